import { type Static, Type } from "typebox";
import { instant, model, ref } from "./field.ts";
import { pagination } from "./page.ts";
import { teamFields } from "./team.ts";

export const RequestMagicLink = model(
  "RequestMagicLink",
  "Who wants to sign in.",
  {
    email: Type.String({
      description: "The address that gets the link.",
      examples: ["ada@example.com"],
    }),
  },
  { additionalProperties: false, examples: [{ email: "ada@example.com" }] },
);

export const MagicLinkSent = model("MagicLinkSent", "The same for every address, known or not.", {
  sent: Type.Boolean({ examples: [true] }),
});

export const OpenSession = model(
  "OpenSession",
  "What was mailed.",
  {
    token: Type.String({
      description: "The parameter `token` of the link.",
      examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
    }),
  },
  { additionalProperties: false },
);

export const SwitchTeam = model(
  "SwitchTeam",
  "Where to.",
  { teamId: teamFields.id },
  { additionalProperties: false },
);

export const SignedIn = model("SignedIn", "A new session.", {
  session: Type.Object({
    token: Type.String({
      description: "Send it as `Authorization: Bearer <token>`. It is shown only here.",
      examples: ["eyJhbGciOiJIUzI1NiIsImtpZCI6Ij…"],
    }),
    expiresAt: instant("The session ends then, 24 hours after the sign-in."),
  }),
  user: Type.Object({
    id: Type.String({ description: "Identifies the person.", examples: ["user_01k9z3mxe5f8hrk3yv5pzq8c2d"] }),
    email: Type.String({ description: "The person's address.", examples: ["ada@example.com"] }),
  }),
  team: Type.Object(teamFields),
});
export type SignedIn = Static<typeof SignedIn>;

export const EndedSession = model("EndedSession", "The session is over.", {
  session: Type.Object({ endedAt: instant("From then on the token is refused.") }),
});

const sessionId = Type.String({
  description: "Identifies the session. It is not a credential.",
  examples: ["ses_01k9z3mxe5f8hrk3yv5pzq8c2d"],
});

export const Session = model("Session", "A session of the person who is signed in.", {
  id: sessionId,
  team: Type.Object(
    { id: teamFields.id, name: teamFields.name },
    { description: "The team of the session." },
  ),
  createdAt: instant("When the person signed in, or went to this team."),
  expiresAt: instant("The session ends then by itself."),
  current: Type.Boolean({ description: "Whether it is the current session." }),
});
export type Session = Static<typeof Session>;

export const SessionList = model("SessionList", "The sessions of the person, the newest first.", {
  sessions: Type.Array(ref(Session)),
  pagination,
});

export const EndedOneSession = model("EndedOneSession", "The session is over.", {
  session: Type.Object({ id: sessionId, endedAt: instant("From then on its token is refused.") }),
});

export const SessionPath = Type.Object({ session_id: sessionId });
