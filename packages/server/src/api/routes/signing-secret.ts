import type { SigningSecretService, SigningSecretView } from "../../service/vault/signing-secret-service.ts";
import { access } from "../http/access.ts";
import { callerOf, requesterOf } from "../http/auth-hook.ts";
import { costs, SMALL } from "../http/cost.ts";
import type { Api } from "../http/schema-types.ts";
import { refusals } from "../schemas/error.ts";
import { ref } from "../schemas/field.ts";
import { SigningSecretAnswer } from "../schemas/signing-secret.ts";

const tags = ["Signing secret"];

export function registerSigningSecretRoutes(app: Api, signingSecrets: SigningSecretService): void {
  app.get(
    "/signing-secret",
    {
      config: { ...access("webhooks:read", "admin"), ...costs("point", { rows: 2, bytes: SMALL }) },
      schema: {
        operationId: "getSigningSecret",
        tags,
        summary: "Get the signing secret",
        description:
          "With it a target verifies that a call comes from this server. It is created on first use.",
        response: { 200: ref(SigningSecretAnswer), ...refusals() },
      },
    },
    async (request) => secretView(await signingSecrets.get(callerOf(request))),
  );

  app.post(
    "/signing-secret/rotate",
    {
      config: { ...access("webhooks:write", "admin"), ...costs("write", { rows: 2, bytes: SMALL }) },
      schema: {
        operationId: "rotateSigningSecret",
        tags,
        summary: "Replace the signing secret",
        description:
          "Until `previousValidUntil` calls are signed with both secrets, so that targets can switch.",
        response: { 200: ref(SigningSecretAnswer), ...refusals() },
      },
    },
    async (request) => secretView(await signingSecrets.rotate(requesterOf(request))),
  );
}

function secretView({ secret, createdAt, previousValidUntil }: SigningSecretView): SigningSecretAnswer {
  return {
    signingSecret: {
      secret,
      createdAt: createdAt.toISOString(),
      previousValidUntil: previousValidUntil?.toISOString() ?? null,
    },
  };
}
