import { receiveFetch } from "./fetch-adapter.ts";
import { type NodeRequest, type NodeResponse, receiveNode } from "./node-adapter.ts";
import { createReceiver, type HandlerArgs } from "./receiver.ts";

export interface Handler {
  (request: Request, ...context: unknown[]): Promise<Response>;
  (request: NodeRequest, response: NodeResponse): Promise<void>;
}

/**
 * Receives what Bellhop sends, in servers that speak `Request` and `Response` and in Node's own. A request that is not
 * signed by the team's secret never reaches `handle`. Its value is answered as JSON and kept as the task's result; what
 * it throws makes Bellhop try again, unless it is a `NoRetry`. Frameworks with a way of their own have an entry point.
 */
export function handler<Payload = unknown>(...args: HandlerArgs<Payload>): Handler {
  const receive = createReceiver(args);
  const either = (request: Request | NodeRequest, response?: unknown): Promise<unknown> =>
    isFetch(request)
      ? receiveFetch(receive, request)
      : receiveNode(receive, request, response as NodeResponse);
  return either as Handler;
}

function isFetch(request: Request | NodeRequest): request is Request {
  return "arrayBuffer" in request;
}
