import { type Static, Type } from "typebox";
import { model, ref } from "./field.ts";
import { PollConfig } from "./poll-config.ts";

export const Provider = model("Provider", "A third party whose jobs can be polled.", {
  id: Type.String({ description: "The value of a task's `provider`.", examples: ["replicate"] }),
  name: Type.String({ examples: ["Replicate"] }),
  description: Type.String(),
  pollConfig: ref(PollConfig),
});

export const ProviderList = model("ProviderList", "The catalog of providers.", {
  providers: Type.Array(ref(Provider)),
});
export type ProviderList = Static<typeof ProviderList>;
