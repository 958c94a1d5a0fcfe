// A schedule that a deployment says every time it runs: it is made, or becomes what stands here, and never twice.
//
//   BELLHOP_URL=http://127.0.0.1:8787 BELLHOP_API_KEY=bh_live_… REPORT_URL=https://shop.example.com/tasks/report \
//     npx tsx examples/nightly-report/schedule.ts
import { createBellhop } from "@bellhop/sdk";

const { REPORT_URL = "http://127.0.0.1:9000/report" } = process.env;
// From BELLHOP_URL and BELLHOP_API_KEY.
const bellhop = createBellhop();

await bellhop.queues.ensure({ name: "reports", concurrency: 1, maxRetries: 5 });
const { nextRuns } = await bellhop.schedules.put("nightly-report", {
  cron: "30 2 * * *",
  timezone: "Europe/Berlin",
  // One that still runs is not joined by the next.
  overlap: "skip",
  task: { queue: "reports", webhookUrl: REPORT_URL, payload: { kind: "nightly" }, expiresIn: 7_200 },
});
console.log(`the report is made at ${nextRuns[0]}`);
