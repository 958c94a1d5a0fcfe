import { type Static, Type } from "typebox";
import { instant, model } from "./field.ts";

export const SigningSecretAnswer = model("SigningSecretAnswer", "What signs the calls of the team.", {
  signingSecret: Type.Object({
    secret: Type.String({
      description: "The key of the signature, for a Standard Webhooks library.",
      examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
    }),
    createdAt: instant("When the secret was made."),
    previousValidUntil: Type.Unsafe<string | null>({
      type: ["string", "null"],
      format: "date-time",
      description: "Until then the previous secret signs as well; null if there is none.",
    }),
  }),
});
export type SigningSecretAnswer = Static<typeof SigningSecretAnswer>;
