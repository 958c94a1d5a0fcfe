// A route handler of Next.js that hands work to Bellhop and answers at once: the mail goes out in ten minutes, also if this
// process is gone by then. It needs BELLHOP_URL, BELLHOP_API_KEY and APP_URL, under which Bellhop reaches this application.
import { type Bellhop, createBellhop } from "@bellhop/sdk";

const { APP_URL = "http://127.0.0.1:3000" } = process.env;

/** Made by the first request: `next build` loads this file where there is no API key. */
let bellhop: Bellhop | undefined;

export async function POST(request: Request): Promise<Response> {
  bellhop ??= createBellhop();
  const { user } = (await request.json()) as { user: number };
  const { id } = await bellhop.tasks.create(
    { queue: "default", webhookUrl: `${APP_URL}/api/welcome`, payload: { user }, delay: 600 },
    // A form that is sent twice makes one task.
    { idempotencyKey: `welcome ${user}` },
  );
  return Response.json({ task: id }, { status: 202 });
}
