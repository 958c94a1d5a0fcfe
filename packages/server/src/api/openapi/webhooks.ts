import { TaskNotification } from "../schemas/notification.ts";

const header = (name: string, description: string) => ({
  in: "header",
  name,
  description,
  required: true,
  schema: { type: "string" },
});

/** Requests that Bellhop sends itself, besides the tasks' calls. */
export const WEBHOOKS = {
  taskEnded: {
    post: {
      operationId: "taskEnded",
      tags: ["Tasks"],
      summary: "A task has ended",
      description:
        "Sent to the `on_complete_url` (`onCompleteUrl`) of a task, once it has completed or failed. Signed by the rules of " +
        "Standard Webhooks with the team's signing secret. An answer other than 2xx, or none within 30 s, is tried again: " +
        "8 times in all, over a day. It may arrive twice.",
      security: [],
      parameters: [
        header("webhook-id", "Names the notification, the same on every try."),
        header("webhook-timestamp", "Unix time in seconds of this try."),
        header("webhook-signature", "One or, during a rotation, two signatures, parted by a space."),
      ],
      requestBody: {
        required: true,
        content: { "application/json": { schema: { $ref: `#/components/schemas/${TaskNotification.$id}` } } },
      },
      responses: {
        "2XX": { description: "Received; not sent again." },
        "4XX": { description: "Sent again later, as after any other answer." },
      },
    },
  },
} as const;
