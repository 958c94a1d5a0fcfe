import { echo, mustBe } from "../../domain/complaint.ts";
import type { ProblemDetail } from "../../domain/problem.ts";

/** A destination as written in a path: a URL, or the name of a URL group. */
export type Destination =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "group"; readonly name: string };

const PLAIN_URL = /^https?:\/\/[^/?#%][^?#%]*$/;

export const NAME_PATTERN = /^[A-Za-z0-9._-]{1,64}$/;

/** Options in the query would be sent on to the target, with the credential in one of them. */
const OPTION_IN_QUERY = /(?:^|&)(qstash_token|upstash-[^=&]*)(?==|&|$)/i;

/**
 * Neither decoded nor normalised, but for two things that happen on the way here: proxies make `http:/x` of `http://x`,
 * and clients put a host with other than ASCII characters in percent-encoding.
 */
export function readDestination(text: string): Destination | ProblemDetail {
  // Most are URLs without a query and without anything encoded.
  if (PLAIN_URL.test(text)) return { kind: "url", url: text };
  const url = text.replace(/^(https?):\/(?!\/)/i, "$1://");
  if (/^https?:\/\//i.test(url)) {
    const option = OPTION_IN_QUERY.exec(url.split("#")[0]?.split("?").slice(1).join("?") ?? "")?.[1];
    if (option !== undefined) {
      const error = `${option} in the query is not supported: send it as a header`;
      return { field: option, error };
    }
    return { kind: "url", url: withPlainHost(url) };
  }
  if (text.startsWith("api/"))
    return {
      field: "destination",
      error: `${echo(text)} is not supported: publish to the URL of the provider`,
    };
  if (NAME_PATTERN.test(text)) return { kind: "group", name: text };
  return mustBe("destination", "a URL that begins with http:// or https://, or the name of a URL group");
}

function withPlainHost(url: string): string {
  return url.replace(/^(https?:\/\/)([^/?#]*%[^/?#]*)/i, (whole, scheme: string, host: string) => {
    try {
      const plain = decodeURIComponent(host);
      return /[\s/\\?#@%:]/.test(plain.replace(/:\d+$/, "")) ? whole : scheme + plain;
    } catch {
      return whole;
    }
  });
}
