import { ApiError, createBellhop } from "@bellhop/sdk";
import { connection } from "./connection.ts";
import { markNumbers, unmarkNumbers } from "./exact-json.ts";
import { live } from "./live.ts";

/**
 * Asks as the signed-in person: the browser's cookie speaks, and the header, which no form and no other site can send,
 * tells the server that this page is asking.
 */
async function pageFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("bellhop-page", "1");
  try {
    const body = typeof init.body === "string" ? unmarkNumbers(init.body) : (init.body ?? null);
    const response = await fetch(input, { ...init, body, headers, credentials: "same-origin" });
    connection.answered(response.status);
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) return followed(response);
    const text = await response.text();
    return new Response(markNumbers(text), { status: response.status, headers: response.headers });
  } catch (error) {
    if (!init.signal?.aborted) {
      connection.failed();
      live.streaming(false);
    }
    throw error;
  }
}

/** Says for how long the stream of events is there. */
function followed(response: Response): Response {
  live.streaming(true);
  const ends = new TransformStream({ flush: () => live.streaming(false) });
  return new Response(response.body?.pipeThrough(ends) ?? null, { headers: response.headers });
}

export const bellhop = createBellhop({
  url: window.location.origin,
  apiKey: null,
  fetch: pageFetch,
  // The queries of the page come again by themselves.
  maxRetries: 0,
  timeoutMs: 15_000,
});

/** For what is the page's own, and no part of the API. Statuses in `also` are answers like a success. */
export async function pageRequest<Answer>(
  path: string,
  init: RequestInit = {},
  also: readonly number[] = [],
): Promise<Answer> {
  const response = await pageFetch(path, {
    ...init,
    headers: { accept: "application/json", ...(init.body ? { "content-type": "application/json" } : {}) },
  });
  const text = await response.text();
  const json: unknown = text === "" ? null : JSON.parse(text);
  if (!response.ok && !also.includes(response.status)) {
    throw new ApiError(response.status, response.headers, json);
  }
  return json as Answer;
}

/** An answer of the API as it was written. */
export async function pageText(path: string): Promise<string> {
  const response = await fetch(path, { headers: { "bellhop-page": "1" }, credentials: "same-origin" });
  const text = await response.text();
  if (!response.ok) throw new ApiError(response.status, response.headers, null);
  return text;
}
