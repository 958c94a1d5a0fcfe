import { Type } from "typebox";
import { model, textMap } from "./field.ts";

export const Alive = Type.Object(
  { status: Type.String({ examples: ["ok"] }) },
  { description: "The process answers." },
);

export const Readiness = model("Readiness", "What it needs, part by part.", {
  status: Type.String({ description: "`ok`, or `unavailable`." }),
  checks: textMap({
    description: "Each check by name: `ok`, or what is wrong.",
    examples: [{ database: "ok" }],
  }),
});
