import { type Static, Type } from "typebox";
import { PLANS } from "../../domain/identity/plan.ts";
import { ROLES } from "../../domain/identity/role.ts";
import { instant, model, oneOf, ref } from "./field.ts";
import { pagination } from "./page.ts";

export const teamFields = {
  id: Type.String({
    description: "Identifies the team.",
    examples: ["team_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "The name of the team, for people; need not be unique.",
    examples: ["Acme"],
  }),
  plan: oneOf(PLANS, { description: "Sets the request limit and the other limits of the team." }),
};

export const role = oneOf(ROLES, {
  description:
    "`viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations " +
    "and applications; `owner` also other owners.",
});

const createdAt = instant("When the team was created.");

export const NameTeam = model(
  "NameTeam",
  "A team's name.",
  { name: teamFields.name },
  {
    additionalProperties: false,
    examples: [{ name: "Acme" }],
  },
);

export const Team = model("Team", "A team.", { ...teamFields, createdAt });
export type Team = Static<typeof Team>;

export const TeamAnswer = model("TeamAnswer", "The team.", { team: ref(Team) });

export const CreatedTeam = model("CreatedTeam", "The new team.", {
  team: Type.Object({ ...teamFields, role, createdAt }),
});

export const TeamMembership = model("TeamMembership", "A team that the person belongs to.", {
  ...teamFields,
  role,
  joinedAt: instant("When the person joined the team."),
  current: Type.Boolean({ description: "Whether this session is in the team." }),
});
export type TeamMembership = Static<typeof TeamMembership>;

export const TeamList = model("TeamList", "The teams of the person, the one joined first at the top.", {
  teams: Type.Array(ref(TeamMembership)),
  pagination,
});
