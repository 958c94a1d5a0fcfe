// Written from openapi.json by `npm run generate`.

export interface Route {
  readonly method: string;
  readonly path: string;
  /** Whether the caller must show who it is. */
  readonly credential: boolean;
  readonly query: boolean;
  readonly body: "json" | "form" | null;
  /** Whether names of the body are snake_case on the wire. */
  readonly snake: boolean;
}

export const ROUTES = {
  getLiveness: { method: "GET", path: "/livez", credential: false, query: false, body: null, snake: false },
  getReadiness: { method: "GET", path: "/readyz", credential: false, query: false, body: null, snake: false },
  getHealth: { method: "GET", path: "/healthz", credential: false, query: false, body: null, snake: false },
  authorize: { method: "GET", path: "/v1/oauth/authorize", credential: false, query: true, body: null, snake: false },
  issueAccessToken: { method: "POST", path: "/v1/oauth/token", credential: false, query: false, body: "form", snake: true },
  revokeAccessToken: { method: "POST", path: "/v1/oauth/revoke", credential: false, query: false, body: "form", snake: true },
  getAuthorizationServer: { method: "GET", path: "/.well-known/oauth-authorization-server", credential: false, query: false, body: null, snake: false },
  listProviders: { method: "GET", path: "/v1/providers", credential: false, query: false, body: null, snake: false },
  requestMagicLink: { method: "POST", path: "/v1/auth/magic-link", credential: false, query: false, body: "json", snake: false },
  openSession: { method: "POST", path: "/v1/auth/session", credential: false, query: false, body: "json", snake: false },
  endSession: { method: "DELETE", path: "/v1/auth/session", credential: true, query: false, body: null, snake: false },
  resolveCallback: { method: "POST", path: "/v1/callbacks/{callbackId}", credential: false, query: false, body: "json", snake: false },
  createTask: { method: "POST", path: "/v1/tasks", credential: true, query: false, body: "json", snake: true },
  listTasks: { method: "GET", path: "/v1/tasks", credential: true, query: true, body: null, snake: false },
  getTask: { method: "GET", path: "/v1/tasks/{task_id}", credential: true, query: false, body: null, snake: false },
  deleteTask: { method: "DELETE", path: "/v1/tasks/{task_id}", credential: true, query: false, body: null, snake: false },
  cancelTask: { method: "POST", path: "/v1/tasks/{task_id}/cancel", credential: true, query: false, body: null, snake: false },
  retryTask: { method: "POST", path: "/v1/tasks/{task_id}/retry", credential: true, query: false, body: "json", snake: false },
  explainTask: { method: "GET", path: "/v1/tasks/{task_id}/explain", credential: true, query: false, body: null, snake: false },
  createBulk: { method: "POST", path: "/v1/tasks/bulk", credential: true, query: false, body: "json", snake: true },
  getBulk: { method: "GET", path: "/v1/tasks/bulk/{bulk_id}", credential: true, query: false, body: null, snake: false },
  stopBulk: { method: "POST", path: "/v1/tasks/bulk/{bulk_id}/stop", credential: true, query: false, body: null, snake: false },
  createTasks: { method: "POST", path: "/v1/tasks/batch", credential: true, query: false, body: "json", snake: false },
  createQueue: { method: "POST", path: "/v1/queues", credential: true, query: false, body: "json", snake: true },
  listQueues: { method: "GET", path: "/v1/queues", credential: true, query: true, body: null, snake: false },
  getQueue: { method: "GET", path: "/v1/queues/{queue_name}", credential: true, query: false, body: null, snake: false },
  updateQueue: { method: "PATCH", path: "/v1/queues/{queue_name}", credential: true, query: false, body: "json", snake: true },
  deleteQueue: { method: "DELETE", path: "/v1/queues/{queue_name}", credential: true, query: false, body: null, snake: false },
  pauseQueue: { method: "POST", path: "/v1/queues/{queue_name}/pause", credential: true, query: false, body: null, snake: false },
  resumeQueue: { method: "POST", path: "/v1/queues/{queue_name}/resume", credential: true, query: false, body: null, snake: false },
  createToken: { method: "POST", path: "/v1/tokens", credential: true, query: false, body: "json", snake: false },
  listTokens: { method: "GET", path: "/v1/tokens", credential: true, query: true, body: null, snake: false },
  revokeToken: { method: "DELETE", path: "/v1/tokens/{tokenId}", credential: true, query: false, body: null, snake: false },
  getSigningSecret: { method: "GET", path: "/v1/signing-secret", credential: true, query: false, body: null, snake: false },
  rotateSigningSecret: { method: "POST", path: "/v1/signing-secret/rotate", credential: true, query: false, body: null, snake: false },
  switchTeam: { method: "POST", path: "/v1/auth/session/team", credential: true, query: false, body: "json", snake: false },
  getMe: { method: "GET", path: "/v1/me", credential: true, query: false, body: null, snake: false },
  listTeams: { method: "GET", path: "/v1/teams", credential: true, query: false, body: null, snake: false },
  createTeam: { method: "POST", path: "/v1/teams", credential: true, query: false, body: "json", snake: false },
  getTeam: { method: "GET", path: "/v1/team", credential: true, query: false, body: null, snake: false },
  renameTeam: { method: "PATCH", path: "/v1/team", credential: true, query: false, body: "json", snake: false },
  listMembers: { method: "GET", path: "/v1/team/members", credential: true, query: false, body: null, snake: false },
  changeMemberRole: { method: "PATCH", path: "/v1/team/members/{user_id}", credential: true, query: false, body: "json", snake: false },
  removeMember: { method: "DELETE", path: "/v1/team/members/{user_id}", credential: true, query: false, body: null, snake: false },
  leaveTeam: { method: "DELETE", path: "/v1/team/membership", credential: true, query: false, body: null, snake: false },
  createInvitation: { method: "POST", path: "/v1/team/invitations", credential: true, query: false, body: "json", snake: false },
  listInvitations: { method: "GET", path: "/v1/team/invitations", credential: true, query: false, body: null, snake: false },
  revokeInvitation: { method: "DELETE", path: "/v1/team/invitations/{invitation_id}", credential: true, query: false, body: null, snake: false },
  createApiKey: { method: "POST", path: "/v1/apikeys", credential: true, query: false, body: "json", snake: false },
  listApiKeys: { method: "GET", path: "/v1/apikeys", credential: true, query: true, body: null, snake: false },
  revokeApiKey: { method: "DELETE", path: "/v1/apikeys/{key_id}", credential: true, query: false, body: null, snake: false },
  listAuditEvents: { method: "GET", path: "/v1/audit", credential: true, query: true, body: null, snake: false },
  getSystem: { method: "GET", path: "/v1/system", credential: true, query: false, body: null, snake: false },
  createApplication: { method: "POST", path: "/v1/oauth/applications", credential: true, query: false, body: "json", snake: false },
  listApplications: { method: "GET", path: "/v1/oauth/applications", credential: true, query: true, body: null, snake: false },
  deleteApplication: { method: "DELETE", path: "/v1/oauth/applications/{clientId}", credential: true, query: false, body: null, snake: false },
  rotateApplicationSecret: { method: "POST", path: "/v1/oauth/applications/{clientId}/rotate", credential: true, query: false, body: null, snake: false },
  listAuthorizations: { method: "GET", path: "/v1/oauth/authorizations", credential: true, query: false, body: null, snake: false },
  endAuthorization: { method: "DELETE", path: "/v1/oauth/authorizations/{authorization_id}", credential: true, query: false, body: null, snake: false },
} as const satisfies Record<string, Route>;
