// A picture from a vendor that answers at once and is done later, waited for in both ways. The vendor here is what
// `npm run bellhop -- echo` plays; the comments say what changes for a real one.
//
//   BELLHOP_URL=http://127.0.0.1:8787 BELLHOP_API_KEY=bh_live_… VENDOR=http://127.0.0.1:9000 \
//     npx tsx examples/image-job/image-job.ts
import { createBellhop, type NewDirectTask } from "@bellhop/sdk";

const { VENDOR = "http://127.0.0.1:9000" } = process.env;
// From BELLHOP_URL and BELLHOP_API_KEY.
const bellhop = createBellhop();

// The vendor's key is in the vault: no task, record or log has it. It may be sent to this host alone.
const token = await bellhop.tokens.create({
  name: "pictures",
  value: "Bearer sk-example",
  allowedHosts: [new URL(VENDOR).hostname],
});
const headers = { Authorization: token.id };

async function finish(how: string, call: NewDirectTask): Promise<void> {
  const { id } = await bellhop.tasks.call(call);
  const { status, result } = await bellhop.tasks.wait(id);
  console.log(`${how}: ${status} ${result?.body}`);
}

// Bellhop asks. For a vendor of the catalog `provider: "replicate"` stands for all of pollConfig.
await finish("polled", {
  targetUrl: `${VENDOR}/jobs?polls=1`,
  headers,
  body: { prompt: "a lobby at night" },
  pollConfig: {
    urlTemplate: `${VENDOR}/jobs/{startResult.body.id}`,
    interval: 1,
    statusPath: "status",
    doneValues: ["succeeded"],
    failValues: ["failed"],
    resultPath: "output",
    errorPath: "error",
  },
});

// The vendor calls. `{callbackUrl}` goes where the vendor wants to be told it: a field of the body, a header, the query.
await finish("called back", {
  targetUrl: `${VENDOR}/callback`,
  headers,
  body: { prompt: "a lobby at noon", callbackUrl: "{callbackUrl}" },
  maxWait: 600,
});

await bellhop.tokens.revoke(token.id);
