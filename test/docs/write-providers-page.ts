import { writeFileSync } from "node:fs";
import { providers } from "webhook-anvil/signatures";
import { providersPage } from "./providers-page.ts";

writeFileSync(new URL("../../docs/providers.md", import.meta.url), providersPage([...providers.values()]));
