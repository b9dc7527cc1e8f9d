/**
 * The Lua scripts that the pinned BullMQ publishes, imported one by one: no Queue class, no PostgreSQL backend.
 * From its CommonJS build, because its ESM build has neither file extensions nor a package type and so doesn't
 * load in Node. A conformance test compares what they write with what `Queue.add` and `job.retry` write.
 */
import addStandardJobModule from "bullmq/dist/cjs/scripts/addStandardJob-9.js";
import reprocessJobModule from "bullmq/dist/cjs/scripts/reprocessJob-9.js";

export const addStandardJobLua: string = addStandardJobModule.addStandardJob.content;
export const reprocessJobLua: string = reprocessJobModule.reprocessJob.content;
