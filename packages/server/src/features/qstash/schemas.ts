import { Type } from "typebox";
import { model, ref, textOrNull } from "../../api/schemas/field.ts";
import { PageQuery, pagination } from "../../api/schemas/page.ts";
import { MOST_ENDPOINTS } from "./domain-group.ts";

const name = { pattern: "^[A-Za-z0-9._-]{1,64}$" };

export const PutUrlGroup = model(
  "PutUrlGroup",
  "The endpoints of a URL group.",
  {
    endpoints: Type.Array(
      Type.Object(
        {
          url: Type.String({ description: "Where its tasks go." }),
          name: Type.Optional(Type.String({ ...name, description: "Names the endpoint within the group." })),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: MOST_ENDPOINTS, description: "In the order of their tasks." },
    ),
  },
  {
    additionalProperties: false,
    examples: [{ endpoints: [{ name: "billing", url: "https://billing.example.com/hook" }] }],
  },
);

const UrlGroup = model(
  "UrlGroup",
  "A named list of URLs: what is published to it becomes one task for each.",
  {
    name: Type.String({ examples: ["order-events"] }),
    endpoints: Type.Array(
      Type.Object({ name: textOrNull("Names the endpoint within the group."), url: Type.String() }),
    ),
    created_at: Type.String(),
    updated_at: Type.String(),
  },
);

export const UrlGroupAnswer = model("UrlGroupAnswer", "A URL group.", { url_group: ref(UrlGroup) });
export const UrlGroupList = model("UrlGroupList", "URL groups, by name.", {
  url_groups: Type.Array(ref(UrlGroup)),
  pagination,
});
export const DeletedUrlGroup = model("DeletedUrlGroup", "The group no longer exists.", {
  name: Type.String(),
  deleted: Type.Boolean(),
});
export const UrlGroupListQuery = PageQuery;
export const UrlGroupPath = Type.Object({ name: Type.String({ ...name, examples: ["order-events"] }) });
