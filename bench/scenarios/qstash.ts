import { bellhop } from "../subjects/bellhop.ts";
import { payloadFor } from "../subjects/subject.ts";
import {
  type Bench,
  recordCpu,
  recordPostgres,
  type Scenario,
  type Variant,
  warmUp,
  withBellhop,
} from "./scenario.ts";

const connections = 64;

/** As a client sends it: a message without options. */
const messageHeaders = {
  "upstash-method": "POST",
  "upstash-telemetry-sdk": "upstash-qstash-js@2.12.0",
  "upstash-telemetry-runtime": "node@v20",
};

/** Both are signed: the call of a queue task always is. */
export const qstash: Scenario = {
  name: "qstash",
  about: `tasks of /v1 and messages of /v2, ${connections} connections in a closed loop`,
  isLight: false,
  variants: [variant("/v1", false), variant("/v2", true)],
};

function variant(name: string, isMessage: boolean): Variant {
  return { name, subject: bellhop, measure: (bench) => measure(bench, isMessage) };
}

async function measure(bench: Bench, isMessage: boolean): Promise<void> {
  const { count } = bench.options;
  await withBellhop({ ownDatabase: true }, async (rig) => {
    const { subject, targetUrl } = rig;
    if (isMessage) {
      Object.assign(subject.headers, messageHeaders);
      subject.submitUrls = subject.submitUrls.map((url) =>
        url.replace("/v1/tasks", `/v2/publish/${targetUrl}`),
      );
      subject.bodyFor = (seq) => JSON.stringify(payloadFor(seq));
    }
    await warmUp(rig, bench.options, connections);
    const measured = await rig.runClosed(count, connections);
    bench.check("messages", measured.load);
    bench.record("tasks/s", measured.load.tasksPerSecond);
    recordCpu(bench, measured);
    recordPostgres(bench, measured);
  });
}
