import { echo, invalid, mustBe } from "../../domain/complaint.ts";
import { isHeaderValue } from "../../domain/header.ts";
import { Problem, type ProblemDetail } from "../../domain/problem.ts";
import { Secret } from "../../domain/secret.ts";
import { parseAllowedHost, type VaultToken } from "../../domain/vault-token.ts";
import type { VaultService } from "../../service/vault/vault-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, MIB, SMALL } from "../http/cost.ts";
import { blankComplaints, labelComplaints } from "../http/label.ts";
import { readIntegers } from "../http/query-integers.ts";
import type { Api } from "../http/schema-types.ts";
import { BODY_REFUSALS, refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { fitPage, PageQuery, readPage, showPage } from "../schemas/page.ts";
import * as record from "../schemas/token.ts";

const tags = ["Vault tokens"];

export function registerTokenRoutes(app: Api, vault: VaultService): void {
  app.post(
    "/tokens",
    {
      preValidation: async (request) => {
        if (!vault.isOpen) throw new Problem("vault_off");
        refuseEarly(request.body);
      },
      config: { ...access("tokens:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "createToken",
        tags,
        summary: "Store a credential",
        description:
          "If the value of a task's header is the token's `id`, the credential is sent instead. The credential is " +
          "encrypted at rest, decrypted only for the call, and never returned or recorded. With a test key it is a " +
          "sandbox token: only test keys see it and only sandbox tasks may name it.",
        body: ref(record.CreateToken),
        response: {
          201: ref(record.TokenAnswer),
          ...refusals("vault_off", "limit_reached", ...BODY_REFUSALS),
        },
      },
    },
    async (request, reply) => {
      const { name, value, allowedHosts } = request.body;
      const complaints = [
        ...labelComplaints("name", name),
        ...valueComplaints(value),
        ...hostComplaints(allowedHosts),
      ];
      if (complaints.length > 0) throw invalid(complaints);
      const token = await vault.create(requesterOf(request), {
        name,
        value: new Secret(value),
        allowedHosts: allowedHosts?.map((host) => parseAllowedHost(host) ?? host) ?? null,
      });
      reply.code(201);
      return { token: tokenView(token) };
    },
  );

  app.get(
    "/tokens",
    {
      preValidation: readIntegers("limit"),
      config: { ...access("tokens:read"), ...costs("page", { rows: 1_001, bytes: MIB }) },
      schema: {
        operationId: "listTokens",
        tags,
        summary: "List the active tokens",
        description:
          "Newest first. Values are never shown. A test key sees those of the sandbox, every other credential the live ones.",
        querystring: PageQuery,
        response: { 200: ref(record.TokenList), ...refusals("vault_off") },
      },
    },
    async (request) => {
      const page = fitPage(await vault.list(callerOf(request), readPage(request.query)), tokenView);
      return { tokens: page.items, ...showPage(page, request.query) };
    },
  );

  app.get(
    "/tokens/:tokenId",
    {
      config: { ...access("tokens:read"), ...costs("scan", { rows: 10_001, bytes: SMALL }) },
      schema: {
        operationId: "getToken",
        tags,
        summary: "Get a token",
        description: "Includes the number of open tasks that name it: check it before revoking.",
        params: record.TokenPath,
        response: {
          200: ref(record.TokenDetailAnswer),
          ...refusals("vault_token_not_found", "vault_off", "too_many_scans"),
        },
      },
    },
    async (request) => {
      const token = await vault.get(callerOf(request), request.params.tokenId);
      return { token: { ...tokenView(token), openTasks: token.openTasks } };
    },
  );

  app.delete(
    "/tokens/:tokenId",
    {
      config: { ...access("tokens:write"), ...costs("write", { rows: 1, bytes: SMALL }) },
      schema: {
        operationId: "revokeToken",
        tags,
        summary: "Revoke a token",
        description:
          "Erases its value. A task that names it fails when its call is due. This cannot be undone.",
        params: record.TokenPath,
        response: { 200: ref(record.RevokedToken), ...refusals("vault_token_not_found", "vault_off") },
      },
    },
    async (request) => {
      const { id, name, revokedAt } = await vault.revoke(requesterOf(request), request.params.tokenId);
      return { token: { id, name, revokedAt: revokedAt.toISOString() } };
    },
  );
}

function tokenView({ id, name, allowedHosts, createdAt, lastUsedAt }: VaultToken): record.Token {
  return {
    id,
    name,
    ...(allowedHosts !== null && { allowedHosts: [...allowedHosts] }),
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}

/** Mistakes that the schema would explain less well: an empty field is a missing one, and a list too long is one mistake. */
function refuseEarly(body: unknown): void {
  const complaints = blankComplaints(body, "name", "value");
  const allowedHosts =
    typeof body === "object" && body !== null && "allowedHosts" in body ? body.allowedHosts : undefined;
  if (Array.isArray(allowedHosts) && !isShortList(allowedHosts)) {
    complaints.push(mustBe("allowedHosts", `an array of 1 to ${record.MOST_ALLOWED_HOSTS} host names`));
  }
  if (complaints.length > 0) throw invalid(complaints);
}

function isShortList(list: readonly unknown[]): boolean {
  return (
    list.length >= 1 &&
    list.length <= record.MOST_ALLOWED_HOSTS &&
    list.every((entry) => typeof entry === "string")
  );
}

/** The value itself is never repeated: this text ends up in logs and on screens. */
function valueComplaints(value: string): ProblemDetail[] {
  if (isHeaderValue(value)) return [];
  const rule =
    "a valid header value: no line breaks or control characters, no spaces at its ends, Latin letters";
  return [mustBe("value", rule)];
}

function hostComplaints(hosts: readonly string[] = []): ProblemDetail[] {
  return hosts
    .filter((host) => parseAllowedHost(host) === null)
    .map((host) => ({
      field: "allowedHosts",
      error: `allowedHosts must hold host names such as api.example.com, api.example.com:8443 or *.example.com, not ${JSON.stringify(echo(host))}`,
    }));
}
