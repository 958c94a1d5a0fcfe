import { type Static, Type } from "typebox";
import { ROLES } from "../../domain/identity/role.ts";
import { instant, model, oneOf, ref } from "./field.ts";
import { pagination } from "./page.ts";
import { role } from "./team.ts";

const fields = {
  id: Type.String({
    description: "Identifies the invitation.",
    examples: ["inv_01k9z3mxe5f8hrk3yv5pzq8c2d"],
  }),
  email: Type.String({ description: "The invited address.", examples: ["ada@example.com"] }),
};

export const CreateInvitation = model(
  "CreateInvitation",
  "Whom to invite, and as what.",
  {
    email: fields.email,
    role: Type.Optional(oneOf(ROLES, { default: "member", description: "Only owners can invite owners." })),
  },
  { additionalProperties: false, examples: [{ email: "ada@example.com", role: "member" }] },
);

export const Invitation = model("Invitation", "A link that was mailed to join the team; never shown again.", {
  ...fields,
  role,
  invitedBy: Type.String({
    description: "The address of the person, or the name of the API key or application, that sent it.",
    examples: ["grace@example.com"],
  }),
  createdAt: instant("When the link was mailed."),
  expiresAt: instant("Until then the link works, once."),
});
export type Invitation = Static<typeof Invitation>;

export const InvitationAnswer = model("InvitationAnswer", "The invitation.", {
  invitation: ref(Invitation),
});

export const InvitationList = model("InvitationList", "The open invitations of the team, newest first.", {
  invitations: Type.Array(ref(Invitation)),
  pagination,
});

export const RevokedInvitation = model("RevokedInvitation", "The link no longer works.", {
  invitation: Type.Object({ ...fields, revokedAt: instant("When the invitation was revoked.") }),
});

export const InvitationPath = Type.Object({ invitation_id: fields.id });
