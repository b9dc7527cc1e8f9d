import { sharedRedisUrl } from "anvil-testkit";
import { silentLog } from "../contract/log.ts";
import { createConnection } from "./connection.ts";
import { eventStoreContract } from "./event-store.contract.ts";
import { tcpStore } from "./tcp-store.ts";

eventStoreContract("over TCP", async (prefix) => {
  const connection = createConnection({
    redis: sharedRedisUrl(),
    name: "anvil-test",
    deadlineMs: 2_000,
    log: silentLog,
  });
  const store = tcpStore(connection, { prefix });
  return { store, close: () => store.close() };
});
