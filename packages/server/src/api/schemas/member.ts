import { type Static, Type } from "typebox";
import { instant, model, ref } from "./field.ts";
import { pagination } from "./page.ts";
import { role } from "./team.ts";

export const personFields = {
  id: Type.String({
    description: "Identifies the person, in every team.",
    examples: ["user_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  email: Type.String({
    description: "The person's sign-in address.",
    examples: ["ada@example.com"],
  }),
};

export const Member = model("Member", "A person who belongs to the team.", {
  ...personFields,
  role,
  joinedAt: instant("When the person joined the team."),
});
export type Member = Static<typeof Member>;

export const MemberAnswer = model("MemberAnswer", "The member.", { member: ref(Member) });

export const MemberList = model("MemberList", "The members of the team, who joined first at the top.", {
  members: Type.Array(ref(Member)),
  pagination,
});

export const ChangeRole = model(
  "ChangeRole",
  "Another role for a member.",
  { role },
  { additionalProperties: false, examples: [{ role: "admin" }] },
);

export const RemovedMember = model("RemovedMember", "The person is no member any more.", {
  member: Type.Object({ ...personFields, removedAt: instant("When the person ceased to be a member.") }),
});
export type RemovedMember = Static<typeof RemovedMember>;

export const MemberPath = Type.Object({ user_id: personFields.id });
