import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What stands before a Lambda function. Each gives its events another form. */
export const GATEWAY_FORMS = [
  "API Gateway 1.0",
  "API Gateway 2.0",
  "a Function URL",
  "a load balancer",
] as const;
export type GatewayForm = (typeof GATEWAY_FORMS)[number];

interface Result {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

type LambdaFunction = (event: object) => Promise<Result>;

/** A server that calls a function for each request, by its path, as AWS does. */
export async function openGateway(
  form: GatewayForm,
  isBase64Encoded: boolean,
  functions: Record<string, LambdaFunction>,
) {
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request);
    const body = bytes.toString(isBase64Encoded ? "base64" : "utf8");
    const path = request.url ?? "";
    const event = eventOf(form, path, request.headers, request.rawHeaders);
    const result = await functions[path]?.({ ...event, body: body === "" ? null : body, isBase64Encoded });
    response.writeHead(result?.statusCode ?? 404, result?.headers);
    response.end(Buffer.from(result?.body ?? "", result?.isBase64Encoded ? "base64" : "utf8"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function eventOf(
  form: GatewayForm,
  path: string,
  headers: IncomingHttpHeaders,
  raw: readonly string[],
): object {
  /** With the letters as they were sent. */
  const sent: [string, string][] = raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name, raw[at + 1] ?? ""]] : [],
  );
  const lists = Object.fromEntries(sent.map(([name, value]) => [name, [value]]));
  const http = { method: "POST", path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "" };
  const second = { version: "2.0", routeKey: "$default", rawPath: path, rawQueryString: "", headers };
  switch (form) {
    case "API Gateway 1.0":
      return {
        resource: path,
        path,
        httpMethod: "POST",
        headers: Object.fromEntries(sent),
        multiValueHeaders: lists,
        queryStringParameters: null,
        requestContext: { stage: "prod", httpMethod: "POST" },
      };
    case "API Gateway 2.0":
      return { ...second, requestContext: { http, stage: "$default", apiId: "api" } };
    case "a Function URL":
      return { ...second, requestContext: { http, domainName: "x.lambda-url.eu-central-1.on.aws" } };
    case "a load balancer":
      return { httpMethod: "POST", path, multiValueHeaders: lists, requestContext: { elb: {} } };
  }
}
