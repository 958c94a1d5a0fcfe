// A day in a shop that sells pictures: mails that go out later, a provider that takes its time, an outage, a report every
// morning. README.md says how to run it.
import { createBellhop, type NewTask } from "@bellhop/sdk";
import { openNeighbours } from "./neighbours.ts";

// From BELLHOP_URL and BELLHOP_API_KEY.
const bellhop = createBellhop();
const { secret } = await bellhop.signingSecret.get();
const shop = await openNeighbours(secret);
/** What this run made, in a team that may have other tasks. */
const run = `run-${Date.now()}`;

await bellhop.queues.ensure({ name: "mails", concurrency: 5, maxRetries: 0 });
await bellhop.queues.ensure({ name: "pictures", concurrency: 2 });

const mail = (to: string, more: Partial<NewTask> = {}): NewTask => ({
  queue: "mails",
  webhookUrl: `${shop.url}/mails`,
  payload: { to },
  onCompleteUrl: `${shop.url}/ended`,
  tags: [run],
  ...more,
});

// Mails that go out later, many in one request. A key of their own makes each sure to be there once, whatever happens to the
// request.
const customers = ["ada", "grace", "edith"].map((name) => `${name}@example.com`);
const later = await bellhop.tasks.createMany(
  customers.map((to) => mail(to, { delay: 1, idempotencyKey: `${run} ${to}` })),
);
console.log(`${later.created} mails will go out in a second`);

// The provider answers at once and is done later. Bellhop asks it from time to time …
const polled = await bellhop.tasks.call({
  queue: "pictures",
  targetUrl: `${shop.url}/pictures`,
  body: { prompt: "a bell" },
  pollConfig: {
    urlTemplate: `${shop.url}/pictures/{startResult.body.id}`,
    statusPath: "status",
    doneValues: ["done"],
    failValues: ["failed"],
    resultPath: "picture",
    interval: 1,
  },
});
// … or gives it an address to call, which is good for one call.
const awaited = await bellhop.tasks.call({
  queue: "pictures",
  targetUrl: `${shop.url}/pictures`,
  body: { prompt: "a hop", callbackUrl: "{callbackUrl}" },
});
for (const { id } of [polled, awaited]) {
  const { status, result } = await bellhop.tasks.wait(id);
  console.log(`picture ${status}: ${result?.body}`);
}

// A notice when each mail is out, signed: the shop need not ask.
for (const { task } of later.results) if (task !== undefined) await bellhop.tasks.wait(task.id);
await until("all notices have come", () =>
  later.results.every(({ task }) => shop.notices.has(task?.id ?? "")),
);
console.log(`${shop.mailed.size} mails are out, ${shop.notices.size} notices have come`);

// The mail service is down, and every mail of that time fails. When it is up again, all of them are sent at once.
shop.mailIsDown = true;
const lost = await bellhop.tasks.createMany(
  Array.from({ length: 20 }, (_, n) => mail(`customer-${n}@example.com`)),
);
for (const { task } of lost.results) if (task !== undefined) await bellhop.tasks.wait(task.id);
shop.mailIsDown = false;

const retry = {
  action: "retry",
  filter: { tag: run, status: "failed", responseCode: "503" },
  rate: 100,
} as const;
console.log(`${await bellhop.tasks.bulk.count(retry)} mails failed in the outage`);
const { id: bulkId } = await bellhop.tasks.bulk.start(retry);
await until("all were retried", async () => (await bellhop.tasks.bulk.get(bulkId)).status === "completed");
for (const { task } of lost.results) if (task !== undefined) await bellhop.tasks.wait(task.id);
console.log(`${shop.mailed.size} mails are out after all were retried`);

// A report every working day at 9:30, and once now, manually.
await bellhop.schedules.put("morning-report", {
  cron: "30 9 * * mon-fri",
  timezone: "Europe/Berlin",
  task: mail("owner@example.com"),
});
const report = await bellhop.schedules.run("morning-report");
const { status } = await bellhop.tasks.wait("task" in report ? report.task.id : report.id);
console.log(`report ${status}`);
await bellhop.schedules.delete("morning-report");

// No call starts while the queue is paused, and `explain` says why.
await bellhop.queues.pause("mails");
const held = await bellhop.tasks.create(mail("late@example.com"));
const { runnable, reasons } = await bellhop.tasks.explain(held.id);
console.log(`runnable: ${runnable}, because: ${reasons.map(({ detail }) => detail).join("; ")}`);
await bellhop.queues.resume("mails");
console.log(`then ${(await bellhop.tasks.wait(held.id)).status}`);

shop.close();

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await isSo()); looks += 1) {
    if (looks === 300) throw new Error(`Waited for too long until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
