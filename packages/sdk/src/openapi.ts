// Written from openapi.json by `npm run generate`.
export interface paths {
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Is the process alive?
         * @description 200 as long as the process answers, regardless of its database.
         */
        get: operations["getLiveness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can it accept and execute tasks?
         * @description 200 while its database answers and its dispatcher works, otherwise 503 with the failing checks.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can it accept and execute tasks?
         * @description 200 while its database answers and its dispatcher works, otherwise 503 with the failing checks.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/authorize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ask a person for access
         * @description For browsers: the application redirects its user here, who signs in and grants or denies access. PKCE with `S256` is required. Unknown parameters are ignored.
         */
        get: operations["authorize"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get an access token
         * @description RFC 6749 with PKCE (RFC 7636), which is required. A refresh token works once and is replaced; a second use of it, or of a code, revokes every token of that consent. Counts as a request of the application's team.
         */
        post: operations["issueAccessToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke a token
         * @description RFC 7009. Revokes an access or refresh token of the application, and all others of the same consent. The answer is the same for an unknown token.
         */
        post: operations["revokeAccessToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-authorization-server": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Describe the authorization server
         * @description RFC 8414: an OAuth client configures itself with this.
         */
        get: operations["getAuthorizationServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/providers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List providers
         * @description Predefined polling configurations. No credential is needed.
         */
        get: operations["listProviders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/magic-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for a sign-in link
         * @description Mails a link that works once, within 15 minutes; an older one to the same address stops working. The answer is the same whether or not the address is known. At most 5 mails in 15 minutes to one address, and 20 for one source. No credential is needed.
         */
        post: operations["requestMagicLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign in with a link
         * @description Takes the token of a sign-in link, or of an invitation, for a session of 24 hours. A person who signs in for the first time gets a team on the free plan; the session is in the team joined first, or in that of the invitation. At most 30 requests in 60 s from one source. No credential is needed.
         */
        post: operations["openSession"];
        /**
         * Sign out
         * @description Ends the session of the request's token: on this node at once, on the others within 1 s.
         */
        delete: operations["endSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/callbacks/{callbackId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report the result of a task
         * @description Ends the task that waits for this callback, or is polled, with the whole body as its result. Any JSON is accepted, under any Content-Type. If the first call of the task is still in flight, the callback is held for up to 5 s. At most 30 requests in 60 s from one address, including refused ones. No credential is needed.
         */
        post: operations["resolveCallback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tasks
         * @description The team's tasks that match every filter, newest first. A page has at most 1 MiB: with very long headers and URLs it has fewer than `limit` tasks. Filters other than queue, status and time scan a limited number of tasks per page, which then may have fewer than `limit` tasks, or none. In both cases `hasMore` is true and `nextCursor` continues. `metadata.<name>=<value>` filters by an entry of the metadata.
         */
        get: operations["listTasks"];
        put?: never;
        /**
         * Create a task
         * @description Accepts one HTTP call to be made later. Once answered 201, the task is on disk. A body with `targetUrl` is a direct task, any other a queue task; every answer shows it in the shape of its creation.
         */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{task_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a task
         * @description The record of a task with its payload and every attempt.
         */
        get: operations["getTask"];
        put?: never;
        post?: never;
        /**
         * Delete a pending task
         * @description Only a pending task can be deleted.
         */
        delete: operations["deleteTask"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{task_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a task
         * @description Ends a task that has not ended yet. The node that makes its call aborts it; the target may still have acted on it. Once this is answered no further call starts. For a polled job, Bellhop calls the `cancelUrlTemplate` of the poll configuration, if it has one.
         */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{task_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a task
         * @description Restarts a failed or cancelled task under the same id, with all its retries. What was said of its end is cleared; its attempts stay, and the next ones are numbered on. A callback id that was not used is valid again. With `payload` or `body`, `headers`, `webhook_url` or `targetUrl` it replaces those parts of the call, each as a whole, by the rules of a creation; the record says so in `retried_with`.
         */
        post: operations["retryTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{task_id}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Dismiss a failed task
         * @description Marks a failed task as one that nobody needs to look at any more: the record has `dismissed_at`, and `dismissed=false` leaves it out of lists. A strictly ordered line that it blocks goes on. A retry clears it.
         */
        post: operations["dismissTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{task_id}/notifications/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send the notification of a task again
         * @description Sends the notification of the task's end to its `on_complete_url` and `on_failure_url` again, with all its tries and the same `webhook-id`. Only after it was delivered or given up.
         */
        post: operations["resendTaskNotification"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/{task_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain why a task does not run
         * @description All reasons why the task is not being called at this moment, or that it is.
         */
        get: operations["explainTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create many tasks
         * @description Accepts up to 1000 tasks of either kind in 10 MiB, each as large as the body of a single creation may be (1 MiB, `BELLHOP_BODY_LIMIT`). Each is answered as a single creation would be; those that are accepted are on disk. With `atomic` it is all or none. The answer has at most 1 MiB.
         */
        post: operations["createTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List alerts
         * @description Newest first.
         */
        get: operations["listAlerts"];
        put?: never;
        /**
         * Create an alert
         * @description Evaluated once a minute. When its condition has held for `for` seconds, every channel receives `alert.firing`, then `alert.reminder` every 4 hours, and `alert.resolved` when it no longer holds.
         */
        post: operations["createAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/alerts/{alert_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an alert
         * @description One alert, its state, and whether its last messages were delivered.
         */
        get: operations["getAlert"];
        put?: never;
        post?: never;
        /**
         * Delete an alert
         * @description Undelivered messages are dropped.
         */
        delete: operations["deleteAlert"];
        options?: never;
        head?: never;
        /**
         * Change an alert
         * @description Fields that are not given stay as they are. `enabled: false` and a change of `when` set the state to `ok` without a message.
         */
        patch: operations["updateAlert"];
        trace?: never;
    };
    "/v1/alerts/{alert_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test message
         * @description Sends `alert.test` to every channel. The state does not change. `last_sent_at` and `last_error` of the channels show the result.
         */
        post: operations["testAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/breakers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List open circuit breakers
         * @description Of all queues of the team, by queue and host.
         */
        get: operations["listBreakers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/breakers/{host}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close the circuit breakers of a host
         * @description The tasks that waited follow, a few at first. If the host still fails, the breaker opens again.
         */
        post: operations["closeBreaker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List bulk actions
         * @description Newest first. An action is kept for 30 days after its end.
         */
        get: operations["listBulks"];
        put?: never;
        /**
         * Cancel, retry, delete or dismiss many tasks
         * @description Selects the matching tasks and processes them in the background, at `rate` tasks a second, each exactly once, through restarts. With `dry_run` it only counts them.
         */
        post: operations["createBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/bulk/{bulk_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a bulk action
         * @description The progress of a bulk action. It is kept for 30 days after its end.
         */
        get: operations["getBulk"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tasks/bulk/{bulk_id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a bulk action
         * @description Once answered, no further task is changed. Completed changes stay.
         */
        post: operations["stopBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List flows
         * @description The keys with stored limits, paused ones, and those with an open task in the last 24 hours; the busiest first. Test keys have flows of their own.
         */
        get: operations["listFlows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flows/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a flow
         * @description The limits that hold for the key, and what its tasks are doing.
         */
        get: operations["getFlow"];
        /**
         * Store the limits of a flow
         * @description Replaces what was stored for the key. Applies at once, on all nodes; calls under way finish. 201 if nothing was stored.
         */
        put: operations["putFlow"];
        post?: never;
        /**
         * Remove the stored limits of a flow
         * @description What its tasks carry holds again. A pause stays.
         */
        delete: operations["deleteFlow"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flows/{key}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a flow
         * @description No call of it begins; calls under way finish. The key may be one that no task has had yet.
         */
        post: operations["pauseFlow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flows/{key}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a flow
         * @description Also ends a pause by `Retry-After`.
         */
        post: operations["resumeFlow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/flows/{key}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restart the window of a flow
         * @description Calls that began before no longer count towards the rate.
         */
        post: operations["resetFlow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description The schedules of the team by name. A test key sees those of test keys, other credentials the rest.
         */
        get: operations["listSchedules"];
        put?: never;
        /**
         * Create a schedule
         * @description Creates a task at every time of `cron` in `timezone`: exactly one each, over all nodes, at most a second late while a node is up. With a test key its tasks are sandbox tasks.
         */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a schedule
         * @description With its task, its next times, and the result of its last firing.
         */
        get: operations["getSchedule"];
        /**
         * Create or replace a schedule by its name
         * @description 201 if the name is new, otherwise 200 with the same id; all other fields are replaced.
         */
        put: operations["putSchedule"];
        post?: never;
        /**
         * Delete a schedule
         * @description It no longer fires. Its tasks remain.
         */
        delete: operations["deleteSchedule"];
        options?: never;
        head?: never;
        /**
         * Change a schedule
         * @description Omitted fields stay unchanged. Existing tasks are not affected.
         */
        patch: operations["updateSchedule"];
        trace?: never;
    };
    "/v1/schedules/{schedule}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a schedule
         * @description It fires only by hand until it is resumed.
         */
        post: operations["pauseSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a schedule
         * @description It fires again from its next time on; what was missed stays missed.
         */
        post: operations["resumeSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedules/{schedule}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fire a schedule now
         * @description Fires even if the schedule is paused and regardless of `overlap`. Its next times stay unchanged.
         */
        post: operations["runSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the clock of the sandbox
         * @description The time of the team's sandbox, which its tasks use. Only with a test key.
         */
        get: operations["getSandbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sandbox/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Advance the clock of the sandbox
         * @description Answers once everything due within this time has happened: delays, retries and expiry of tasks, callbacks, and firings of the schedules of test keys. Only with a test key.
         */
        post: operations["advanceSandbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/url-groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List URL groups
         * @description By name.
         */
        get: operations["listUrlGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/url-groups/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a URL group
         * @description With its endpoints.
         */
        get: operations["getUrlGroup"];
        /**
         * Store a URL group
         * @description Replaces its endpoints; 201 if there was none of this name. `POST /v2/publish/{name}` creates one task for each endpoint. Tasks that exist keep their URL.
         */
        put: operations["putUrlGroup"];
        post?: never;
        /**
         * Delete a URL group
         * @description Refused while a schedule publishes to it. Tasks that exist stay.
         */
        delete: operations["deleteUrlGroup"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get queue statistics
         * @description Counts, depth, waits and durations by steps: 60 s for `15m` and `1h`, 5 min for `6h`, 15 min for `24h`, 2 h for `7d`, 6 h for `30d`. Each node writes its counts every 10 s: a killed node loses the counts of its last seconds, but no task. Quantiles are estimates with an error of at most a quarter. Kept for 30 days.
         */
        get: operations["getQueueStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get groups of failed tasks
         * @description Failed tasks that were created in the range and not dismissed, grouped by queue, host, reason, last answer and error. Errors that differ only in words with digits are one group. The newest 10,000 are scanned, shared evenly between queues that have any. At most 100 groups and 1 MiB, the largest first.
         */
        get: operations["getFailureStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List subscriptions
         * @description Newest first.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Subscribe to events
         * @description Sends every later event of these kinds to the URL as `{ type, timestamp, data }`, signed with the team's signing secret by the rules of Standard Webhooks. An answer other than 2xx, or none within 30 s, is retried: 8 tries in all, over 28 hours. Events may arrive twice and out of order.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a subscription
         * @description One subscription, and whether its deliveries succeed.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a subscription
         * @description Pending deliveries are dropped.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a subscription
         * @description What is not given stays as it is. One without a success for 5 days is turned off, and on again by `enabled: true`.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List deliveries
         * @description Newest first, for 7 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event
         * @description Sends an event `webhook.test` to this webhook, whatever it subscribes to. The list of its deliveries shows what became of it.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver a message again
         * @description Sends the message of a delivery that was delivered or given up once more, with all its tries: a new delivery with the same `webhook-id`.
         */
        post: operations["redeliverWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow events
         * @description Server-sent events of the team, until either side closes the connection: `id`, `event` (the kind) and `data`. The first is `ready`: a reader that is cut off before the next one resumes after its `id`. The others have in `data` `{ task }` with the task as in a list, or `{ queue }`. Of a task that was deleted since, there are `id`, `queue` and `status` alone. With `Last-Event-ID` it goes on after that event, for 24 hours; after that, or if it cannot be known that nothing is missing, it begins with one event `reset`. A comment every 15 seconds. A reader that does not keep up is cut off, and may resume. Test keys are told of the sandbox, all others of everything else. Events of queues need the scope `queues:read` besides.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List queues
         * @description The queues of the team by name, each with its number of tasks per state.
         */
        get: operations["listQueues"];
        put?: never;
        /**
         * Create a queue
         * @description A new queue is running. Every team has the queue `default` from the start. Test keys may create queues too: live and sandbox tasks share them.
         */
        post: operations["createQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a queue with its stats
         * @description The settings of a queue, and its number of tasks per state.
         */
        get: operations["getQueue"];
        put?: never;
        post?: never;
        /**
         * Delete a queue
         * @description Also deletes its pending tasks; `tasks_deleted` is their number. Active tasks finish. This cannot be undone.
         */
        delete: operations["deleteQueue"];
        options?: never;
        head?: never;
        /**
         * Change the settings of a queue
         * @description Tasks that are already in the queue keep the `max_retries`, `retry_backoff`, `retry_delay` and `timeout` of their creation; `concurrency`, `rate`, `ordered`, `on_failure` and `breaker` apply at once.
         */
        patch: operations["updateQueue"];
        trace?: never;
    };
    "/v1/queues/{queue_name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a queue
         * @description No new execution starts; running ones finish; tasks can still be added.
         */
        post: operations["pauseQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/queues/{queue_name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a queue
         * @description Executions continue.
         */
        post: operations["resumeQueue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the active tokens
         * @description Newest first. Values are never shown. A test key sees those of the sandbox, every other credential the live ones.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Store a credential
         * @description If the value of a task's header is the token's `id`, the credential is sent instead. The credential is encrypted at rest, decrypted only for the call, and never returned or recorded. With a test key it is a sandbox token: only test keys see it and only sandbox tasks may name it.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{tokenId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a token
         * @description Includes the number of open tasks that name it: check it before revoking.
         */
        get: operations["getToken"];
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Erases its value. A task that names it fails when its call is due. This cannot be undone.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/signing-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the signing secret
         * @description With it a target verifies that a call comes from this server. It is created on first use.
         */
        get: operations["getSigningSecret"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/signing-secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the signing secret
         * @description Until `previousValidUntil` calls are signed with both secrets, so that targets can switch.
         */
        post: operations["rotateSigningSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your sessions
         * @description Sessions of the signed-in person, in all teams. A session opened by an invitation sees only itself.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End one of your sessions
         * @description On this node at once, on the others within 1 s. It may be the current session.
         */
        delete: operations["endOneSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/session/team": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Switch to another of your teams
         * @description A session is in one team. This ends it and opens one in another team, with the same expiry. A session opened by an invitation cannot switch.
         */
        post: operations["switchTeam"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the current credential
         * @description The team and rights of this credential. Every credential may use it.
         */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/teams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your teams
         * @description The teams of the signed-in person.
         */
        get: operations["listTeams"];
        put?: never;
        /**
         * Create a team
         * @description The signed-in person owns it. It starts on the free plan, with a queue `default`. The session stays in its team.
         */
        post: operations["createTeam"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the team
         * @description The team of the credential.
         */
        get: operations["getTeam"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Rename the team
         * @description The name is for people; the `id` does not change.
         */
        patch: operations["renameTeam"];
        trace?: never;
    };
    "/v1/team/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the members of the team
         * @description All members with their roles.
         */
        get: operations["listMembers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/members/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a member from the team
         * @description The person's sessions in the team end, and so does what it let applications do there. Only an owner can remove an owner; the last one stays.
         */
        delete: operations["removeMember"];
        options?: never;
        head?: never;
        /**
         * Change the role of a member
         * @description Only an owner can add or change an owner. The last owner of a team stays its owner.
         */
        patch: operations["changeMemberRole"];
        trace?: never;
    };
    "/v1/team/membership": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Leave the team
         * @description Removes the person who is signed in from the team of the session. The person's sessions in the team end, and so does what it let applications do there. The last owner stays.
         */
        delete: operations["leaveTeam"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the open invitations
         * @description Invitations that are not accepted, revoked or expired.
         */
        get: operations["listInvitations"];
        put?: never;
        /**
         * Invite a person to the team
         * @description Mails a link that works once, for 7 days. Inviting the same address again replaces the earlier invitation: its link stops working. At most 20 an hour from a team, and 5 in 15 minutes to an address.
         */
        post: operations["createInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/team/invitations/{invitation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an invitation
         * @description Its link stops working.
         */
        delete: operations["revokeInvitation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apikeys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the active API keys
         * @description Newest first. The keys themselves are never shown again.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description A live key has the rights of an admin, a test key those of a member. Only this answer contains the key.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apikeys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description This node refuses it at once, the others within a second. A key may revoke itself.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes
         * @description Changes with author, origin and time, newest first. Creating tasks is not recorded: each task is its own record. Events are kept for 400 days.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/system": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Nodes and database
         * @description The nodes and their state. For the operator's own team; for other teams the route does not exist.
         */
        get: operations["getSystem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/applications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the applications
         * @description Newest first. Secrets are never shown again.
         */
        get: operations["listApplications"];
        put?: never;
        /**
         * Register an application
         * @description Only this answer contains the secret. An application that registers another can only grant scopes that it has itself.
         */
        post: operations["createApplication"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/applications/{clientId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an application
         * @description Also revokes its tokens in every team, within a second.
         */
        delete: operations["deleteApplication"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/applications/{clientId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace an application's secret
         * @description The old secret is refused from then on. Issued tokens stay valid.
         */
        post: operations["rotateApplicationSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/authorizations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the grants of applications
         * @description Valid grants, newest first. An admin sees those of every member of the team, other members their own.
         */
        get: operations["listAuthorizations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/oauth/authorizations/{authorization_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a grant of an application
         * @description Its access tokens are refused within a second, its refresh token at once. Every person can revoke their own grants, an admin those of all members.
         */
        delete: operations["endAuthorization"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    taskEnded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A task has ended
         * @description Sent to the `on_complete_url` (`onCompleteUrl`) of a task, once it has completed or failed. Signed by the rules of Standard Webhooks with the team's signing secret. An answer other than 2xx, or none within 30 s, is tried again: 8 times in all, over a day. It may arrive twice.
         */
        post: operations["taskEnded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description An access token (RFC 6749, 5.1). */
        AccessToken: {
            /** @description Send it as `Authorization: Bearer …`. */
            access_token: string;
            /** @enum {string} */
            token_type: "Bearer";
            /**
             * @description Seconds.
             * @example 3600
             */
            expires_in: number;
            /** @description For the next token; valid for 30 days, once. */
            refresh_token?: string;
            /**
             * @description The granted scopes, separated by spaces.
             * @example tasks:read
             */
            scope: string;
        };
        /**
         * @description How much time is to pass.
         * @example {
         *       "seconds": 3600
         *     }
         */
        AdvanceSandbox: {
            /** @description Seconds to advance the team's sandbox clock. */
            seconds: number;
        };
        /** @description A condition that is evaluated once a minute. */
        Alert: {
            /** @example alr_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description Named in every message.
             * @example Mails fail
             */
            name: string;
            /**
             * @description The condition, with its defaults.
             * @example {
             *       "kind": "failure_rate",
             *       "queue": "emails",
             *       "threshold": 10,
             *       "within": 300,
             *       "for": 0
             *     }
             */
            when: {
                /**
                 * @description `failure_rate`: percent of the tasks that ended within the last `within` seconds and failed, if at least 20 ended. `oldest_pending`: seconds since the oldest due task became due. `depth`: due and pending tasks. `breaker_open`: open circuit breakers. `webhook_disabled`: webhooks that Bellhop disabled. `schedule_failing`: firings of one schedule in a row that failed. `storage`: percent of the plan's storage; for the operator's team, of the disk.
                 * @enum {string}
                 */
                kind: "failure_rate" | "oldest_pending" | "depth" | "breaker_open" | "webhook_disabled" | "schedule_failing" | "storage";
                /** @description Null: all queues, or the kind has none. */
                queue: string | null;
                /** @description Null if the kind has none. */
                threshold: number | null;
                /** @description Seconds; null if the kind has none. */
                within: number | null;
                /** @description Seconds. */
                for: number;
            };
            /** @description Who is notified, and whether the last message was delivered. */
            notify: {
                email?: string;
                url?: string;
                /** @description Without its end. */
                slack_url?: string;
                /** @description Why the last message was not delivered yet; null if it was. */
                last_error: string | null;
                /**
                 * Format: date-time
                 * @description When the last message was delivered; null if none was.
                 */
                last_sent_at: string | null;
            }[];
            enabled: boolean;
            /**
             * @description Of the last evaluation.
             * @enum {string}
             */
            state: "ok" | "firing";
            /** @description The figure of the last evaluation; null if there is none. */
            value: number | null;
            /**
             * Format: date-time
             * @description Since when the condition holds; null if it does not.
             */
            since: string | null;
            /**
             * Format: date-time
             * @description When it last began to fire; null if it never did.
             */
            last_fired_at: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When its fields were last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description An alert.
         * @example {
         *       "alert": {
         *         "id": "alr_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *         "name": "Mails fail",
         *         "when": {
         *           "kind": "failure_rate",
         *           "queue": "emails",
         *           "threshold": 10,
         *           "within": 300,
         *           "for": 0
         *         },
         *         "notify": [
         *           {
         *             "email": "ada@example.com",
         *             "last_error": null,
         *             "last_sent_at": null
         *           }
         *         ],
         *         "enabled": true,
         *         "state": "ok",
         *         "value": 1.5,
         *         "since": null,
         *         "last_fired_at": null,
         *         "created_at": "2026-03-01T09:30:00.000Z",
         *         "updated_at": "2026-03-01T09:30:00.000Z"
         *       }
         *     }
         */
        AlertAnswer: {
            alert: components["schemas"]["Alert"];
        };
        /**
         * @description The team's alerts, newest first.
         * @example {
         *       "alerts": [
         *         {
         *           "id": "alr_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *           "name": "Mails fail",
         *           "when": {
         *             "kind": "failure_rate",
         *             "queue": "emails",
         *             "threshold": 10,
         *             "within": 300,
         *             "for": 0
         *           },
         *           "notify": [
         *             {
         *               "email": "ada@example.com",
         *               "last_error": null,
         *               "last_sent_at": null
         *             }
         *           ],
         *           "enabled": true,
         *           "state": "ok",
         *           "value": 1.5,
         *           "since": null,
         *           "last_fired_at": null,
         *           "created_at": "2026-03-01T09:30:00.000Z",
         *           "updated_at": "2026-03-01T09:30:00.000Z"
         *         }
         *       ]
         *     }
         */
        AlertList: {
            alerts: components["schemas"]["Alert"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description An API key, without the key itself. */
        ApiKey: {
            /** @example key_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description A label, for people; need not be unique.
             * @example Billing service
             */
            name: string;
            /**
             * @description Tasks of a `test` key are sandbox tasks: they are never called.
             * @default live
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description The beginning of the key, to identify it.
             * @example bh_live_3f9a
             */
            prefix: string;
            /**
             * Format: date-time
             * @description When the key was made.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the key was last used, to the minute; null if never.
             */
            lastUsedAt: string | null;
        };
        /** @description The active keys of the team, newest first. */
        ApiKeyList: {
            apiKeys: components["schemas"]["ApiKey"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description An OAuth application, without its secret. */
        Application: {
            /** @example app_01k9z3mxe5f8hrk3yv5pzq8c2d */
            clientId: string;
            /**
             * @description The name shown on the consent page.
             * @example Nightly reports
             */
            name: string;
            /**
             * @description Where people are sent back to, 1 to 20 of at most 2000 characters, each compared letter by letter: https; http on 127.0.0.1 or [::1] (whatever the port) or localhost; or a scheme of the application's own with a dot, such as `com.example.app:/callback`. Not needed without `authorization_code`.
             * @example [
             *       "https://reports.example.com/callback"
             *     ]
             */
            redirectUris: string[];
            /**
             * @description The most that it can be granted, at least one of: `tasks:read`, `tasks:write`, `queues:read`, `queues:write`, `tokens:read`, `tokens:write`, `tokens:use`, `apikeys:read`, `apikeys:write`, `schedules:read`, `schedules:write`, `webhooks:read`, `webhooks:write`, `team:read`, `team:write`.
             * @example [
             *       "tasks:read",
             *       "tasks:write"
             *     ]
             */
            scopes: string[];
            /**
             * @description How it gets tokens: `authorization_code`, `refresh_token`, `client_credentials`. `refresh_token` goes with `authorization_code`. With `client_credentials` it acts on its own, as an admin of the team it belongs to.
             * @default [
             *       "authorization_code",
             *       "refresh_token"
             *     ]
             */
            grantTypes: string[];
            /**
             * Format: date-time
             * @description When the application was registered.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
        };
        /** @description The applications of the team, newest first. */
        ApplicationList: {
            applications: components["schemas"]["Application"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description One try. */
        Attempt: {
            /** @description From 1. */
            number: number;
            /**
             * @description How the attempt ended; `active` while it runs.
             * @enum {string}
             */
            status: "active" | "success" | "failed" | "timeout" | "interrupted" | "aborted" | "blocked" | "superseded";
            /** @description Null when there was no answer. */
            response_code: number | null;
            /**
             * Format: date-time
             * @description When the attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            executed_at: string;
            /** @description Milliseconds; null while it runs. */
            duration: number | null;
            /** @description Milliseconds until the connection was open; omitted below one. */
            connect_ms?: number;
            /** @description Milliseconds until the answer began; omitted if the whole answer had arrived by then, or there was none. */
            first_byte_ms?: number;
            /**
             * @description How far the call got. `sent`: the target may have acted on it although no answer came.
             * @enum {string}
             */
            phase: "not_sent" | "sent" | "responded";
            /** @description What went wrong, for people. */
            error: string | null;
        };
        /** @description One change. */
        AuditEvent: {
            /** @example evt_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-03-01T09:30:00.000Z
             */
            at: string;
            actor: {
                /**
                 * @description `operator` is the person who runs this server, through the `bellhop` command.
                 * @enum {string}
                 */
                kind: "api_key" | "session" | "application" | "operator";
                /** @example key_01k9z3mxe5f8hrk3yv5pzq8c2d */
                id: string;
                /**
                 * @description Its name at that time.
                 * @example Billing service
                 */
                name: string;
            };
            /**
             * @description The resource and what happened to it: `queue.created`, `task.deleted`, `api_key.revoked`.
             * @example queue.created
             */
            action: string;
            /**
             * @description The id or name of the changed object.
             * @example emails
             */
            target: string;
            /** @description Further data, such as the changed settings; never a secret. */
            detail: {
                [key: string]: unknown;
            } | null;
            /** @description Where the request came from; null if there was none. */
            address: string | null;
            /** @description `X-Request-Id` of the request; null if there was none. */
            requestId: string | null;
        };
        /** @description A page of the audit log, newest first. */
        AuditList: {
            events: components["schemas"]["AuditEvent"][];
            pagination: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description What a person allowed an application to do in the team. */
        Authorization: {
            /**
             * @description Identifies one consent of a person, with all its tokens.
             * @example auth_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            application: {
                /** @example app_01k9z3mxe5f8hrk3yv5pzq8c2d */
                clientId: string;
                /** @example Nightly reports */
                name: string;
                /**
                 * @description The name of the team that the application belongs to.
                 * @example Difference Ltd
                 */
                team: string;
            };
            /** @description The person who granted it. */
            user: {
                /**
                 * @description Identifies the person, in every team.
                 * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The person's sign-in address.
                 * @example ada@example.com
                 */
                email: string;
            };
            /** @description The granted scopes. */
            scopes: ("tasks:read" | "tasks:write" | "queues:read" | "queues:write" | "tokens:read" | "tokens:write" | "tokens:use" | "apikeys:read" | "apikeys:write" | "schedules:read" | "schedules:write" | "webhooks:read" | "webhooks:write" | "team:read" | "team:write")[];
            /**
             * Format: date-time
             * @description When the person allowed it.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it ends by itself, unless the application refreshes it before.
             * @example 2026-03-01T09:30:00.000Z
             */
            expiresAt: string;
        };
        /** @description What applications have been allowed and may still do, newest first. */
        AuthorizationList: {
            authorizations: components["schemas"]["Authorization"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description What an OAuth client needs to know (RFC 8414). */
        AuthorizationServer: {
            /** @description The issuer of the tokens: the address of this server. */
            issuer: string;
            authorization_endpoint: string;
            token_endpoint: string;
            revocation_endpoint: string;
            /** @description All scopes. */
            scopes_supported: string[];
            /** @description `code` alone. */
            response_types_supported: string[];
            /** @description `query` alone. */
            response_modes_supported: string[];
            /** @description All grant types. */
            grant_types_supported: string[];
            /** @description `S256` alone; it is required. */
            code_challenge_methods_supported: string[];
            /** @description How an application proves itself. */
            token_endpoint_auth_methods_supported: string[];
            /** @description The same. */
            revocation_endpoint_auth_methods_supported: string[];
            /** @description RFC 9207. */
            authorization_response_iss_parameter_supported: boolean;
            service_documentation: string;
        };
        /** @description What became of a batch. */
        BatchAnswer: {
            created: number;
            replayed: number;
            /** @description Items that joined an earlier task by their deduplication key; absent if no item has one. */
            deduplicated?: number;
            refused: number;
            /** @description One result per item, in order. */
            results: components["schemas"]["BatchItem"][];
        };
        /** @description What became of one item: a task, or a refusal. */
        BatchItem: {
            /** @description Its place in the batch, from 0. */
            index: number;
            /** @description As it was accepted, in its own words. A direct task of an earlier request has no `body`. The answer has at most 1 MiB: a task that has no room in it has no `body` either, or only `id`, `status` and its callback. */
            task?: components["schemas"]["CreatedTask"] | components["schemas"]["NewDirectTask"] | components["schemas"]["BriefTask"];
            /** @description Of a direct task. */
            callbackId?: string;
            /** @description Of a direct task. */
            callbackUrl?: string;
            /** @description True if an earlier request with its key created the task. */
            replayed?: boolean;
            /** @description True if it created no task: an earlier one has its deduplication key. */
            deduplicated?: boolean;
            /** @description True if it took the place of what an earlier task with its deduplication key said. */
            replaced?: boolean;
            /** @description Why it was refused, as for a single creation. */
            error?: string;
            /** @description The error code, for programs. */
            code?: string;
        };
        /**
         * @description An open circuit breaker: tasks of the queue to the host wait.
         * @example {
         *       "queue": "emails",
         *       "host": "api.example.com",
         *       "state": "open",
         *       "failures": 20,
         *       "opened_at": "2026-03-01T09:30:00.000Z",
         *       "until": "2026-03-01T09:30:30.000Z"
         *     }
         */
        Breaker: {
            queue: string;
            /** @description In lower case, with the port where the URL has one. */
            host: string;
            /**
             * @description `open`: no call begins until `until`. `probing`: one task is called, or the next one that comes; its answer closes the breaker.
             * @enum {string}
             */
            state: "open" | "probing";
            /** @description The failed attempts that opened it. */
            failures: number;
            /**
             * Format: date-time
             * @description When it opened.
             * @example 2026-03-01T09:30:00.000Z
             */
            opened_at: string;
            /**
             * Format: date-time
             * @description When the probe may begin.
             * @example 2026-03-01T09:30:00.000Z
             */
            until: string;
        };
        /**
         * @description The open breakers of the team, by queue and host.
         * @example {
         *       "breakers": [
         *         {
         *           "queue": "emails",
         *           "host": "api.example.com",
         *           "state": "open",
         *           "failures": 20,
         *           "opened_at": "2026-03-01T09:30:00.000Z",
         *           "until": "2026-03-01T09:30:30.000Z"
         *         }
         *       ]
         *     }
         */
        BreakerList: {
            breakers: components["schemas"]["Breaker"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description A task of a batch whose answer has no room for more. The callback of a direct task stands beside it. */
        BriefTask: {
            /**
             * Format: uuid
             * @example 019a7e3a-75c5-7a31-a98f-db2dbf745c4d
             */
            id: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /** @description True if an earlier request with the same deduplication key created the task: this one created none. */
            deduplicated?: boolean;
            /** @description True if this request took the place of what an earlier one with the same deduplication key said. */
            replaced?: boolean;
            /** @description For a task that waits or is polled. Anyone who has it can end the task, once. Shown here, in the answer to a repeated request (on a server with a vault) and nowhere else. */
            callback_id?: string;
            /** @description Where a third party may report the result. */
            callback_url?: string;
        };
        /** @description An action on many tasks, and how far it is. */
        Bulk: {
            /** @example bulk_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description The action.
             * @enum {string}
             */
            action: "cancel" | "retry" | "delete" | "dismiss";
            /**
             * @description `running` until every task was processed.
             * @enum {string}
             */
            status: "running" | "completed" | "stopped";
            /** @description Tasks that matched when the action was created. Tasks that match later are not affected. */
            matched: number;
            /** @description Tasks that were changed. */
            done: number;
            /** @description Tasks that were not in a suitable state when they were processed. */
            skipped: number;
            /**
             * Format: date-time
             * @description When it was asked for.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
        };
        /**
         * @description An action on many tasks.
         * @example {
         *       "bulk": {
         *         "id": "bulk_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *         "action": "retry",
         *         "status": "running",
         *         "matched": 1200,
         *         "done": 340,
         *         "skipped": 2,
         *         "created_at": "2026-03-01T09:30:00.000Z"
         *       }
         *     }
         */
        BulkAnswer: {
            bulk: components["schemas"]["Bulk"];
        };
        /** @description The team's bulk actions, newest first. */
        BulkList: {
            bulks: components["schemas"]["Bulk"][];
            pagination: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /**
         * @description Another role for a member.
         * @example {
         *       "role": "admin"
         *     }
         */
        ChangeRole: {
            /**
             * @description `viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations and applications; `owner` also other owners.
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "viewer";
        };
        /**
         * @description Which breakers of the host to close.
         * @example {
         *       "queue": "emails"
         *     }
         */
        CloseBreaker: {
            /** @description Only in this queue. Default: in all. */
            queue?: string;
        };
        /**
         * @description The queues whose breaker was open and is closed now.
         * @example {
         *       "host": "api.example.com",
         *       "closed": [
         *         "emails"
         *       ]
         *     }
         */
        ClosedBreakers: {
            host: string;
            closed: string[];
        };
        /**
         * @description A condition, and who is notified when it holds.
         * @example {
         *       "name": "Mails fail",
         *       "when": {
         *         "kind": "failure_rate",
         *         "queue": "emails",
         *         "threshold": 10,
         *         "within": 300,
         *         "for": 0
         *       },
         *       "notify": [
         *         {
         *           "email": "ada@example.com"
         *         }
         *       ]
         *     }
         */
        CreateAlert: {
            /**
             * @description Named in every message.
             * @example Mails fail
             */
            name: string;
            /**
             * @description The condition.
             * @example {
             *       "kind": "failure_rate",
             *       "queue": "emails",
             *       "threshold": 10,
             *       "within": 300,
             *       "for": 0
             *     }
             */
            when: {
                /**
                 * @description `failure_rate`: percent of the tasks that ended within the last `within` seconds and failed, if at least 20 ended. `oldest_pending`: seconds since the oldest due task became due. `depth`: due and pending tasks. `breaker_open`: open circuit breakers. `webhook_disabled`: webhooks that Bellhop disabled. `schedule_failing`: firings of one schedule in a row that failed. `storage`: percent of the plan's storage; for the operator's team, of the disk.
                 * @enum {string}
                 */
                kind: "failure_rate" | "oldest_pending" | "depth" | "breaker_open" | "webhook_disabled" | "schedule_failing" | "storage";
                /** @description Only this queue; absent: all queues of the team. Not for every kind. */
                queue?: string | null;
                /** @description The alert fires at this figure or above. Not for `breaker_open` and `webhook_disabled`. */
                threshold?: number | null;
                /** @description Seconds, for `failure_rate`. Default: `300`. */
                within?: number | null;
                /** @description Seconds for which the condition must hold before the alert fires. Default: `0`. */
                for?: number | null;
            };
            /**
             * @description Who is notified: in each entry one of `email`, `url` and `slack_url`.
             * @example [
             *       {
             *         "email": "ada@example.com"
             *       }
             *     ]
             */
            notify: {
                /** @description The address of a member of the team. */
                email?: string | null;
                /** @description Receives the message as JSON, signed by the rules of Standard Webhooks. */
                url?: string | null;
                /** @description A Slack-compatible URL, which receives `{ text }`. It is encrypted, and shown without its end; the shown form keeps the stored URL in a change. */
                slack_url?: string | null;
            }[];
            /** @description False: the alert is not evaluated, and its state is `ok`. Default: `true`. */
            enabled?: boolean;
        };
        /**
         * @description A key to make. A team can have 100 active ones.
         * @example {
         *       "name": "Billing service",
         *       "environment": "live"
         *     }
         */
        CreateApiKey: {
            /**
             * @description A label, for people; need not be unique.
             * @example Billing service
             */
            name: string;
            /**
             * @description Tasks of a `test` key are sandbox tasks: they are never called. Default: `live`.
             * @enum {string}
             */
            environment?: "live" | "test";
        };
        /**
         * @description An application to register. A team can have 100.
         * @example {
         *       "name": "Nightly reports",
         *       "redirectUris": [
         *         "https://reports.example.com/callback"
         *       ],
         *       "scopes": [
         *         "tasks:read",
         *         "tasks:write"
         *       ],
         *       "grantTypes": [
         *         "authorization_code",
         *         "refresh_token"
         *       ]
         *     }
         */
        CreateApplication: {
            /**
             * @description The name shown on the consent page.
             * @example Nightly reports
             */
            name: string;
            /**
             * @description Where people are sent back to, 1 to 20 of at most 2000 characters, each compared letter by letter: https; http on 127.0.0.1 or [::1] (whatever the port) or localhost; or a scheme of the application's own with a dot, such as `com.example.app:/callback`. Not needed without `authorization_code`.
             * @example [
             *       "https://reports.example.com/callback"
             *     ]
             */
            redirectUris?: string[];
            /**
             * @description The most that it can be granted, at least one of: `tasks:read`, `tasks:write`, `queues:read`, `queues:write`, `tokens:read`, `tokens:write`, `tokens:use`, `apikeys:read`, `apikeys:write`, `schedules:read`, `schedules:write`, `webhooks:read`, `webhooks:write`, `team:read`, `team:write`.
             * @example [
             *       "tasks:read",
             *       "tasks:write"
             *     ]
             */
            scopes: string[];
            /** @description How it gets tokens: `authorization_code`, `refresh_token`, `client_credentials`. `refresh_token` goes with `authorization_code`. With `client_credentials` it acts on its own, as an admin of the team it belongs to. Default: `["authorization_code","refresh_token"]`. */
            grantTypes?: string[];
        };
        /**
         * @description One action on every task that fits a filter.
         * @example {
         *       "action": "retry",
         *       "filter": {
         *         "queue": "emails",
         *         "status": "failed",
         *         "response_code": "5xx"
         *       },
         *       "rate": 20
         *     }
         */
        CreateBulk: {
            /**
             * @description `cancel` takes tasks that have not ended, `retry` failed and cancelled ones, `delete` pending ones, `dismiss` failed ones.
             * @enum {string}
             */
            action: "cancel" | "retry" | "delete" | "dismiss";
            /** @description The filters of the list of tasks. An empty filter means every task and requires `confirm`. */
            filter: {
                /** @description Only tasks of this queue. */
                queue?: string;
                /**
                 * @description Only tasks in this state, or in one of several, separated by commas.
                 * @example failed,cancelled
                 */
                status?: string;
                /** @description Only tasks that have this tag; repeated: all of these tags. */
                tag?: string | string[];
                /**
                 * @description Only tasks created then or later.
                 * @example 2026-03-01T09:30:00Z
                 */
                created_after?: string;
                /**
                 * @description Only tasks created earlier than then.
                 * @example 2026-03-01T10:00:00Z
                 */
                created_before?: string;
                /**
                 * @description Only calls to this host, named as in the URL, without its port.
                 * @example api.example.com
                 */
                host?: string;
                /** @description Only tasks that name this provider. */
                provider?: string;
                /** @description Only tasks that this schedule has created, by its id. */
                schedule?: string;
                /**
                 * @description Only tasks that failed for this reason.
                 * @enum {string}
                 */
                failure_reason?: "retries_exhausted" | "worker_lost" | "queue_deleted" | "poll_failed" | "poll_timeout" | "callback_timeout" | "token_revoked" | "blocked" | "not_retryable" | "expired";
                /**
                 * @description Only tasks whose last finished attempt was answered with this status code or class (`503`, `5xx`), or not in time (`timeout`), or broke off on the network (`network`).
                 * @example 503
                 * @example 5xx
                 * @example timeout
                 * @example network
                 */
                response_code?: string;
                /**
                 * @description Only tasks whose whole `error` fits this pattern, whatever its case; `*` stands for any text.
                 * @example *card declined*
                 */
                error?: string;
                /** @description Only tasks with these entries in their metadata: an object, or one entry as its key, `=` and its value. */
                metadata?: string | {
                    [key: string]: string;
                };
                /**
                 * @description `true`: only failed tasks that were dismissed. `false`: only tasks that were not.
                 * @enum {string}
                 */
                dismissed?: "true" | "false";
                /** @description Only this task, by either spelling of its id. */
                id?: string;
                /** @description True: only tasks of the sandbox. Test keys reach no others. */
                sandbox?: boolean;
            };
            /** @description Only count the matching tasks. Default: `false`. */
            dry_run?: boolean;
            /** @description Maximum tasks a second. Default: `50`. */
            rate?: number;
            /**
             * @description Required with an empty filter.
             * @enum {string}
             */
            confirm?: "all";
        };
        /**
         * @description A call to make as given. Give `delay` or `delayUntil`, not both, and at most one of `waitForCallback`, `provider` and `pollConfig`: a callback also ends a task that is polled. `{callbackUrl}` and `{callbackId}` in the URL, a header or the body are filled in when the call is made, and make the task wait for its callback unless it is polled or says `waitForCallback: false`.
         * @example {
         *       "targetUrl": "https://api.replicate.com/v1/predictions",
         *       "headers": {
         *         "Authorization": "tok_01k9z3mxe5f8hrk3yv5pzq8c2d"
         *       },
         *       "body": {
         *         "version": "…",
         *         "input": {
         *           "prompt": "a bell"
         *         }
         *       },
         *       "provider": "replicate"
         *     }
         */
        CreateDirectTask: {
            /**
             * @description Name of an existing queue. Default: `default`.
             * @example media
             */
            queue?: string;
            /** @description 1 to 10, higher is processed first. Default: `5`. */
            priority?: number;
            /** @description Seconds before the task becomes eligible for execution. Default: `0`. */
            delay?: number;
            /**
             * Format: date-time
             * @description When the task becomes eligible, with a time zone; at most a year ahead. The past means now.
             * @example 2026-03-01T09:30:00.000Z
             */
            delayUntil?: string;
            /**
             * @description The body of the call. A string is sent unchanged; an object or an array as JSON, byte for byte as written, with `Content-Type: application/json` unless the headers have one. Without it the call has no body.
             * @example {
             *       "version": "…",
             *       "input": {
             *         "prompt": "a bell"
             *       }
             *     }
             */
            body?: string | {
                [key: string]: unknown;
            } | unknown[];
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            maxRetries?: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout?: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retryBackoff?: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retryDelay?: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retryMaxDelay?: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            noRetryStatuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expiresIn?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://api.replicate.com/v1/predictions
             */
            targetUrl: string;
            /**
             * @description Method of the call. Default: `POST`.
             * @enum {string}
             */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together, sent as they are. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "Authorization": "tok_01k9z3mxe5f8hrk3yv5pzq8c2d",
             *       "Content-Type": "application/json"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            waitForCallback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            maxWait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            pollConfig?: components["schemas"]["OwnPollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            onCompleteUrl?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            onFailureUrl?: string;
            /**
             * @description 1 to 255 printable ASCII characters. The same key with the same request within 24 hours returns the first task.
             * @example signup-42
             */
            idempotencyKey?: string;
            /** @description Sign the call with the team's signing secret (Standard Webhooks). Default: `false`. */
            sign?: boolean;
            dedupe?: components["schemas"]["DirectDedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The flow that limits the task: its key, or its key with limits. A key has 1 to 128 characters of `A-Z a-z 0-9 . _ : @ -`; or `$host`, for the host of the call; or `$token`, for its vault token.
             * @example customer-42
             */
            flow?: string | components["schemas"]["FlowOfTask"];
            simulate?: components["schemas"]["DirectSimulation"];
        };
        /**
         * @description Whom to invite, and as what.
         * @example {
         *       "email": "ada@example.com",
         *       "role": "member"
         *     }
         */
        CreateInvitation: {
            /**
             * @description The invited address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description Only owners can invite owners. Default: `member`.
             * @enum {string}
             */
            role?: "owner" | "admin" | "member" | "viewer";
        };
        /**
         * @description A queue and the settings that differ from the defaults.
         * @example {
         *       "name": "emails",
         *       "concurrency": 10
         *     }
         */
        CreateQueue: {
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example emails
             */
            name: string;
            /** @description Tasks of this queue that may execute at the same time, across all nodes. Default: `5`. */
            concurrency?: number;
            /** @description Retries after a failed first attempt. Default: `3`. */
            max_retries?: number;
            /**
             * @description Delay between attempts: always `retry_delay`, or doubling from it up to an hour. Default: `exponential`.
             * @enum {string}
             */
            retry_backoff?: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: `1`. */
            retry_delay?: number;
            /** @description Maximum delay between two attempts in seconds. Default: `3600`. */
            retry_max_delay?: number;
            /**
             * @description Answers that end a task at once, `failure_reason: "not_retryable"`. None unless it is said.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses?: number[];
            /** @description Seconds a call may take, from connecting to the last byte of the answer. Default: `30`. */
            timeout?: number;
            /** @description Strict order: tasks start in the order of creation, one at a time, each when the one before has ended. `concurrency` is 1, and priorities are ignored. Default: `false`. */
            ordered?: boolean;
            /**
             * @description Of an ordered queue: whether its line goes on after a failed task, or stops until that task is retried and completes, or is dismissed. Default: `continue`.
             * @enum {string}
             */
            on_failure?: "continue" | "block";
            /** @description At most so many calls of the queue begin in any `rate_period` seconds, across all nodes; retries count. `false`: no rate. Default: `false`. */
            rate?: number | false;
            /** @description Seconds; 1 unless it is said. Only with `rate`. */
            rate_period?: number;
            /** @description Circuit breaker, for each host that the queue calls: attempts that fail by timeout, network error or 5xx open it, and the tasks of that host then wait without losing an attempt, until one of them as a probe is answered. `true`: with the defaults. Default: `false`. */
            breaker?: boolean | {
                /** @description It opens at so many failed attempts within `within` seconds, Default: `20`. */
                failures?: number;
                /** @description if they are at least this part of all attempts in that time. Default: `0.9`. */
                ratio?: number;
                /** @description Seconds. Default: `60`. */
                within?: number;
                /** @description Seconds until the probe; doubles with every probe that fails, up to 600. Default: `30`. */
                cooldown?: number;
            };
        };
        /**
         * @description When to create which task, again and again.
         * @example {
         *       "name": "nightly-report",
         *       "cron": "30 9 * * mon-fri",
         *       "timezone": "Europe/Berlin",
         *       "task": {
         *         "queue": "default",
         *         "webhook_url": "https://example.com/hooks/report",
         *         "payload": {
         *           "kind": "daily"
         *         }
         *       }
         *     }
         */
        CreateSchedule: {
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example nightly-report
             */
            name: string;
            /**
             * @description Five fields (minute, hour, day of month, month, day of week), or six with seconds first. If both day fields are set, either one matches.
             * @example 30 9 * * mon-fri
             */
            cron: string;
            /**
             * @description The body of `POST /v1/tasks`, of either kind, without an exact time, an idempotency key and `dedupe`.
             * @example {
             *       "queue": "default",
             *       "webhook_url": "https://example.com/hooks/report",
             *       "payload": {
             *         "kind": "daily"
             *       }
             *     }
             */
            task: components["schemas"]["CreateTask"] | components["schemas"]["CreateDirectTask"];
            /**
             * @description An IANA time zone. A time that a clock change skips runs at the first instant after the gap, a time that occurs twice runs only the first time. Default: `UTC`.
             * @example Europe/Berlin
             */
            timezone?: string;
            /**
             * @description `skip`: the schedule does not fire while one of its tasks has not ended. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /**
             * @description Times that passed while no node was up create `one` task together; with `none` they create none if the newest of them is more than 60 s old. Default: `one`.
             * @enum {string}
             */
            catch_up?: "one" | "none";
            /** @description A paused schedule fires only manually. Default: `false`. */
            paused?: boolean;
        };
        /**
         * @description A call to make later, from a queue. Give `delay` or `run_at`, not both, and at most one of `wait_for_callback`, `provider` and `poll_config`: a callback also ends a task that is polled. `{callbackUrl}` and `{callbackId}` in the URL, a header or a string of the payload are filled in when the call is made, and make the task wait for its callback unless it is polled or says `wait_for_callback: false`.
         * @example {
         *       "queue": "emails",
         *       "webhook_url": "https://example.com/hooks/welcome",
         *       "payload": {
         *         "user_id": 42
         *       },
         *       "delay": 60,
         *       "priority": 8
         *     }
         */
        CreateTask: {
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /** @description 1 to 10, higher is processed first. Default: `5`. */
            priority?: number;
            /** @description Seconds before the task becomes eligible for execution. Default: `0`. */
            delay?: number;
            /**
             * Format: date-time
             * @description When the task becomes eligible, with a time zone; at most a year ahead. The past means now.
             * @example 2026-03-01T09:30:00.000Z
             */
            run_at?: string;
            /**
             * @description Any JSON value, sent as the body of the call, byte for byte as written. Default, also for null: `{}`.
             * @example {
             *       "user_id": 42
             *     }
             */
            payload?: unknown;
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            max_retries?: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout?: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retry_backoff?: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retry_delay?: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retry_max_delay?: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expires_in?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://example.com/hooks/welcome
             */
            webhook_url: string;
            /**
             * @description Method of the call. Default: `POST`.
             * @enum {string}
             */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "X-Source": "signup"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            wait_for_callback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            max_wait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            poll_config?: components["schemas"]["OwnPollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            on_complete_url?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            on_failure_url?: string;
            /**
             * @description 1 to 255 printable ASCII characters. The same key with the same request within 24 hours returns the first task.
             * @example signup-42
             */
            idempotency_key?: string;
            dedupe?: components["schemas"]["Dedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The flow that limits the task: its key, or its key with limits. A key has 1 to 128 characters of `A-Z a-z 0-9 . _ : @ -`; or `$host`, for the host of the call; or `$token`, for its vault token.
             * @example customer-42
             */
            flow?: string | components["schemas"]["FlowOfTask"];
            simulate?: components["schemas"]["Simulation"];
        };
        /**
         * @description Many new tasks, of either kind.
         * @example {
         *       "tasks": [
         *         {
         *           "queue": "emails",
         *           "webhook_url": "https://example.com/hooks/welcome",
         *           "payload": {
         *             "user_id": 42
         *           }
         *         },
         *         {
         *           "targetUrl": "https://api.example.com/jobs",
         *           "body": {
         *             "job": 7
         *           }
         *         }
         *       ]
         *     }
         */
        CreateTasks: {
            /** @description 1 to 1000 bodies of `POST /v1/tasks`, each with its own idempotency key if it has one. */
            tasks: (components["schemas"]["CreateTask"] | components["schemas"]["CreateDirectTask"])[];
            /** @description All or none: one refused item refuses the batch, and no task is stored. Default: `false`. */
            atomic?: boolean;
        };
        /**
         * @description A credential to keep.
         * @example {
         *       "name": "Replicate, production",
         *       "value": "Bearer r8_example",
         *       "allowedHosts": [
         *         "api.replicate.com"
         *       ]
         *     }
         */
        CreateToken: {
            /**
             * @description A label, for people; need not be unique.
             * @example Replicate, production
             */
            name: string;
            /**
             * @description The whole value of a header, such as `Bearer r8_…`. Stored encrypted, used in calls, never returned.
             * @example Bearer r8_example
             */
            value: string;
            /**
             * @description The hosts that the token may be sent to, 1 to 50: `api.example.com`, `api.example.com:8443`, `*.example.com` (every name below it). Without a port every port is meant. Left out: any host.
             * @example [
             *       "api.replicate.com"
             *     ]
             */
            allowedHosts?: string[];
        };
        /**
         * @description Where a team wants to be told of what happens.
         * @example {
         *       "url": "https://example.com/hooks/bellhop",
         *       "events": [
         *         "task.completed",
         *         "task.failed"
         *       ],
         *       "queue": "emails"
         *     }
         */
        CreateWebhook: {
            /**
             * @description Where to send events: an absolute http or https URL without credentials, at most 8192 characters.
             * @example https://example.com/hooks/bellhop
             */
            url: string;
            /**
             * @description The kinds of events.
             * @example [
             *       "task.completed",
             *       "task.failed"
             *     ]
             */
            events: ("task.created" | "task.replaced" | "task.started" | "task.attempt_failed" | "task.waiting" | "task.polling" | "task.completed" | "task.failed" | "task.cancelled" | "queue.created" | "queue.changed" | "queue.paused" | "queue.resumed" | "queue.deleted" | "target.down" | "target.up")[];
            /**
             * @description Only events of this queue and its tasks.
             * @example emails
             */
            queue?: string;
            /**
             * @description Only events of tasks that have this tag.
             * @example signup
             */
            tag?: string;
            /** @description False: no event is sent, and none is kept for later. Default: `true`. */
            enabled?: boolean;
        };
        /** @description The new key. It is shown here and nowhere else. */
        CreatedApiKey: {
            apiKey: {
                /** @example key_01k9z3mxe5f8hrk3yv5pzq8c2d */
                id: string;
                /**
                 * @description A label, for people; need not be unique.
                 * @example Billing service
                 */
                name: string;
                /**
                 * @description Tasks of a `test` key are sandbox tasks: they are never called.
                 * @default live
                 * @enum {string}
                 */
                environment: "live" | "test";
                /**
                 * @description The beginning of the key, to identify it.
                 * @example bh_live_3f9a
                 */
                prefix: string;
                /**
                 * Format: date-time
                 * @description When the key was made.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                createdAt: string;
                /**
                 * @description The key: send it as `Authorization: Bearer …` or `X-API-Key`. Store it: it is not shown again.
                 * @example bh_live_3f9a…
                 */
                key: string;
            };
        };
        /** @description The direct call as it was accepted, and its callback. */
        CreatedDirectTask: {
            task: components["schemas"]["NewDirectTask"];
            /** @description True if an earlier request with the same deduplication key created the task: this one created none. */
            deduplicated?: boolean;
            /** @description True if this request took the place of what an earlier one with the same deduplication key said. */
            replaced?: boolean;
            /** @description Anyone who has it can end the task, once. Shown here, in the answer to a repeated request (on a server with a vault) and nowhere else. */
            callbackId?: string;
            /** @description Where a third party may report the result. */
            callbackUrl?: string;
        };
        /** @description The task as it was accepted. With `wait`, it has the fields of its record too. */
        CreatedTask: {
            /** @example task_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /**
             * @description 1 to 10, higher is processed first.
             * @default 5
             */
            priority: number;
            /**
             * Format: date-time
             * @description When the task was accepted. It is on disk.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it becomes, or became, eligible: later after a failed attempt that is retried.
             * @example 2026-03-01T09:30:00.000Z
             */
            run_at?: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it ended, completed, failed or cancelled.
             * @example 2026-03-01T09:30:00.000Z
             */
            completed_at?: string;
            /**
             * @description Any JSON value, sent as the body of the call, byte for byte as written. Default, also for null: `{}`.
             * @example {
             *       "user_id": 42
             *     }
             */
            payload?: unknown;
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            max_retries?: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout?: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retry_backoff?: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retry_delay?: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retry_max_delay?: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expires_in?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://example.com/hooks/welcome
             */
            webhook_url?: string;
            /**
             * @description Method of the call. Default: `POST`.
             * @enum {string}
             */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "X-Source": "signup"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            wait_for_callback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            max_wait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            poll_config?: components["schemas"]["PollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            on_complete_url?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            on_failure_url?: string;
            dedupe?: components["schemas"]["Dedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The key of the flow that limits it, as stored.
             * @example customer-42
             */
            flow?: string;
            result?: components["schemas"]["TaskResult"];
            /** @description Why it failed, for people. */
            error?: string;
            /**
             * @description Why it failed, for machines.
             * @example retries_exhausted
             */
            failure_reason?: string;
            /** @description True for a task of a test key: it is never called. */
            sandbox?: boolean;
            /**
             * @description Id of the schedule that made it, if one did.
             * @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            schedule?: string;
            /**
             * Format: date-time
             * @description The time of its schedule that it was created for. Not for a schedule that was run manually.
             * @example 2026-03-01T09:30:00.000Z
             */
            scheduled_for?: string;
            /**
             * Format: date-time
             * @description When the failed task was dismissed: nobody needs to look at it any more.
             * @example 2026-03-01T09:30:00.000Z
             */
            dismissed_at?: string;
            attempts?: components["schemas"]["Attempt"][];
            polls?: components["schemas"]["Polls"];
            notifications?: components["schemas"]["NotificationState"][];
            /** @description The number of manual retries, if any. */
            retries?: number;
            /** @description Manual retries that replaced parts of the call, and which parts. The earlier values are not kept. */
            retried_with?: {
                /**
                 * Format: date-time
                 * @description When the task was retried.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                at: string;
                /**
                 * @example [
                 *       "payload",
                 *       "headers"
                 *     ]
                 */
                fields: string[];
            }[];
            /**
             * @description Seconds before the task becomes eligible for execution.
             * @default 0
             */
            delay: number;
            /** @description True if an earlier request with the same deduplication key created the task: this one created none. */
            deduplicated?: boolean;
            /** @description True if this request took the place of what an earlier one with the same deduplication key said. */
            replaced?: boolean;
            /** @description For a task that waits or is polled. Anyone who has it can end the task, once. Shown here, in the answer to a repeated request (on a server with a vault) and nowhere else. */
            callback_id?: string;
            /** @description Where a third party may report the result. */
            callback_url?: string;
        };
        /** @description The new team. */
        CreatedTeam: {
            team: {
                /**
                 * @description Identifies the team.
                 * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The name of the team, for people; need not be unique.
                 * @example Acme
                 */
                name: string;
                /**
                 * @description Sets the request limit and the other limits of the team.
                 * @enum {string}
                 */
                plan: "free" | "pro" | "enterprise";
                /**
                 * @description `viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations and applications; `owner` also other owners.
                 * @enum {string}
                 */
                role: "owner" | "admin" | "member" | "viewer";
                /**
                 * Format: date-time
                 * @description When the team was created.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                createdAt: string;
            };
        };
        /**
         * @description Joins different requests under one key.
         * @example {
         *       "key": "invoice-42",
         *       "mode": "debounce",
         *       "window": 30,
         *       "max_wait": 300
         *     }
         */
        Dedupe: {
            /**
             * @description 1 to 255 printable ASCII characters, of the team and environment, over all queues.
             * @example invoice-42
             */
            key: string;
            /**
             * @description `first`: within the window of the first task, later requests create none. `replace`: a later request takes the place of what a task that was not called yet said. `debounce`: the same, and the task is due `window` seconds after the newest request.
             * @enum {string}
             */
            mode: "first" | "replace" | "debounce";
            /** @description Seconds, at most 30 days. */
            window: number;
            /** @description Only with `debounce`: the longest wait in seconds after the first request. Default: 30 days. */
            max_wait?: number;
        };
        /**
         * @description The deleted alert.
         * @example {
         *       "alert": {
         *         "id": "alr_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *         "deleted": true
         *       }
         *     }
         */
        DeletedAlert: {
            alert: {
                /** @example alr_01k9z3mxe5f8hrk3yv5pzq8c2d */
                id: string;
                deleted: boolean;
            };
        };
        /** @description The application is gone, and its tokens are refused from now on. */
        DeletedApplication: {
            application: {
                /** @example app_01k9z3mxe5f8hrk3yv5pzq8c2d */
                clientId: string;
                /**
                 * @description The name shown on the consent page.
                 * @example Nightly reports
                 */
                name: string;
                /**
                 * Format: date-time
                 * @description When the application was deleted.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                deletedAt: string;
            };
        };
        /** @description What was stored for the key is removed. */
        DeletedFlow: {
            key: string;
            deleted: boolean;
        };
        /** @description The queue is gone. */
        DeletedQueue: {
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example emails
             */
            name: string;
            deleted: boolean;
            /** @description The number of deleted pending tasks. */
            tasks_deleted: number;
        };
        /** @description The schedule is gone; its tasks are not. */
        DeletedSchedule: {
            /** @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example nightly-report
             */
            name: string;
            deleted: boolean;
        };
        /** @description The task is gone and will not be called. */
        DeletedTask: {
            /**
             * @description As requested.
             * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            deleted: boolean;
        };
        /** @description The group no longer exists. */
        DeletedUrlGroup: {
            name: string;
            deleted: boolean;
        };
        /**
         * @description The subscription that is gone.
         * @example {
         *       "webhook": {
         *         "id": "wh_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *         "deleted": true
         *       }
         *     }
         */
        DeletedWebhook: {
            webhook: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                id: string;
                deleted: boolean;
            };
        };
        /** @description One try. */
        DirectAttempt: {
            /** @description From 1. */
            number: number;
            /**
             * @description How the attempt ended; `active` while it runs.
             * @enum {string}
             */
            status: "active" | "success" | "failed" | "timeout" | "interrupted" | "aborted" | "blocked" | "superseded";
            /** @description Null when there was no answer. */
            responseCode: number | null;
            /**
             * Format: date-time
             * @description When the attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            executedAt: string;
            /** @description Milliseconds; null while it runs. */
            duration: number | null;
            /** @description Milliseconds until the connection was open; omitted below one. */
            connectMs?: number;
            /** @description Milliseconds until the answer began; omitted if the whole answer had arrived by then, or there was none. */
            firstByteMs?: number;
            /**
             * @description How far the call got. `sent`: the target may have acted on it although no answer came.
             * @enum {string}
             */
            phase: "not_sent" | "sent" | "responded";
            /** @description What went wrong, for people. */
            error: string | null;
        };
        /**
         * @description Joins different requests under one key.
         * @example {
         *       "key": "invoice-42",
         *       "mode": "first",
         *       "window": 3600
         *     }
         */
        DirectDedupe: {
            /**
             * @description 1 to 255 printable ASCII characters, of the team and environment, over all queues.
             * @example invoice-42
             */
            key: string;
            /**
             * @description `first`: within the window of the first task, later requests create none. `replace`: a later request takes the place of what a task that was not called yet said. `debounce`: the same, and the task is due `window` seconds after the newest request.
             * @enum {string}
             */
            mode: "first" | "replace" | "debounce";
            /** @description Seconds, at most 30 days. */
            window: number;
            /** @description Only with `debounce`: the longest wait in seconds after the first request. Default: 30 days. */
            maxWait?: number;
        };
        /** @description What became of one notification to the task's completion address. */
        DirectNotificationState: {
            /** @description The URL of the notification. */
            url: string;
            /**
             * @description `failed`: given up after the last try.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description The number of tries; a resend restarts at 0. */
            attempts: number;
            /** @description Why the last try failed; null before the first try and once it is delivered. */
            lastError: string | null;
            /**
             * Format: date-time
             * @description When the next try is due; null once it was delivered or given up.
             */
            nextAt: string | null;
        };
        /** @description How the job of a task that is being polled was asked for so far. `run_at` says when next. */
        DirectPolls: {
            /** @description The number of polls. */
            count: number;
            /**
             * Format: date-time
             * @description When the last one was answered.
             * @example 2026-03-01T09:30:00.000Z
             */
            lastAt: string;
            /**
             * @description Its answer: a status code, or the network failure.
             * @example 200
             * @example timeout
             */
            lastAnswer: string;
            /**
             * @description Why the last poll yielded no status, such as a name that does not resolve or a 503; omitted if it did.
             * @example The provider answered 503
             */
            lastError?: string;
        };
        /**
         * @description How a task of the sandbox is to go, instead of a call. Only with a test key.
         * @example {
         *       "outcome": "complete",
         *       "responseCode": 201,
         *       "body": {
         *         "ok": true
         *       }
         *     }
         */
        DirectSimulation: {
            /**
             * @description The simulated result of the call: `complete`, a 2xx; `fail`, another status; `timeout`, no answer; `callback`, a 2xx after which the task waits and its callback ends it. A task that is polled or waits for a callback does so after `complete` too.
             * @enum {string}
             */
            outcome: "complete" | "fail" | "timeout" | "callback";
            /** @description Duration of the attempt in seconds, or of the wait until the task is ended. Default: `0`. */
            after?: number;
            /**
             * @description The body of the answer or of the callback: text, or any other JSON value, kept as JSON; at most 64 KiB.
             * @example {
             *       "ok": true
             *     }
             */
            body?: unknown;
            /** @description The first attempt with this outcome; earlier ones fail with 500. Default: `1`. */
            attempts?: number;
            /** @description The status code of the answer. Default: 200, or 500 with `fail`. */
            responseCode?: number;
        };
        /** @description The record of a direct call. */
        DirectTask: {
            /**
             * Format: uuid
             * @example 019a7e3a-75c5-7a31-a98f-db2dbf745c4d
             */
            id: string;
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /**
             * @description 1 to 10, higher is processed first.
             * @default 5
             */
            priority: number;
            /**
             * Format: date-time
             * @description When the task was accepted. It is on disk.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it becomes, or became, eligible: later after a failed attempt that is retried.
             * @example 2026-03-01T09:30:00.000Z
             */
            runAt: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            startedAt?: string;
            /**
             * Format: date-time
             * @description When it ended, completed, failed or cancelled.
             * @example 2026-03-01T09:30:00.000Z
             */
            completedAt?: string;
            /**
             * @description The body of the call. A string is sent unchanged; an object or an array as JSON, byte for byte as written, with `Content-Type: application/json` unless the headers have one. Without it the call has no body.
             * @example {
             *       "version": "…",
             *       "input": {
             *         "prompt": "a bell"
             *       }
             *     }
             */
            body?: string | {
                [key: string]: unknown;
            } | unknown[];
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            maxRetries: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retryBackoff: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retryDelay: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retryMaxDelay: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            noRetryStatuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expiresIn?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://api.replicate.com/v1/predictions
             */
            targetUrl: string;
            /**
             * @description Method of the call.
             * @default POST
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together, sent as they are. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "Authorization": "tok_01k9z3mxe5f8hrk3yv5pzq8c2d",
             *       "Content-Type": "application/json"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            waitForCallback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            maxWait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            pollConfig?: components["schemas"]["PollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            onCompleteUrl?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            onFailureUrl?: string;
            /** @description Sign the call with the team's signing secret (Standard Webhooks). Default: `false`. */
            sign?: boolean;
            dedupe?: components["schemas"]["DirectDedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The key of the flow that limits it, as stored.
             * @example customer-42
             */
            flow?: string;
            result?: components["schemas"]["TaskResult"];
            /** @description Why it failed, for people. */
            error?: string;
            /**
             * @description Why it failed, for machines.
             * @example retries_exhausted
             */
            failureReason?: string;
            /** @description True for a task of a test key: it is never called. */
            sandbox?: boolean;
            /**
             * @description Id of the schedule that made it, if one did.
             * @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            schedule?: string;
            /**
             * Format: date-time
             * @description The time of its schedule that it was created for. Not for a schedule that was run manually.
             * @example 2026-03-01T09:30:00.000Z
             */
            scheduledFor?: string;
            /**
             * Format: date-time
             * @description When the failed task was dismissed: nobody needs to look at it any more.
             * @example 2026-03-01T09:30:00.000Z
             */
            dismissedAt?: string;
            attempts: components["schemas"]["DirectAttempt"][];
            polls?: components["schemas"]["DirectPolls"];
            notifications?: components["schemas"]["DirectNotificationState"][];
            /** @description The number of manual retries, if any. */
            retries?: number;
            /** @description Manual retries that replaced parts of the call, and which parts. The earlier values are not kept. */
            retriedWith?: {
                /**
                 * Format: date-time
                 * @description When the task was retried.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                at: string;
                /**
                 * @example [
                 *       "payload",
                 *       "headers"
                 *     ]
                 */
                fields: string[];
            }[];
        };
        /** @description The record of a direct call. */
        DirectTaskAnswer: {
            task: components["schemas"]["DirectTask"];
        };
        /** @description A direct call in a list: everything but its body, its attempts and the body of its result. */
        DirectTaskSummary: {
            /**
             * Format: uuid
             * @example 019a7e3a-75c5-7a31-a98f-db2dbf745c4d
             */
            id: string;
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /**
             * @description 1 to 10, higher is processed first.
             * @default 5
             */
            priority: number;
            /**
             * Format: date-time
             * @description When the task was accepted. It is on disk.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it becomes, or became, eligible: later after a failed attempt that is retried.
             * @example 2026-03-01T09:30:00.000Z
             */
            runAt: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            startedAt?: string;
            /**
             * Format: date-time
             * @description When it ended, completed, failed or cancelled.
             * @example 2026-03-01T09:30:00.000Z
             */
            completedAt?: string;
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            maxRetries: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retryBackoff: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retryDelay: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retryMaxDelay: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            noRetryStatuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expiresIn?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://api.replicate.com/v1/predictions
             */
            targetUrl: string;
            /**
             * @description Method of the call.
             * @default POST
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together, sent as they are. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "Authorization": "tok_01k9z3mxe5f8hrk3yv5pzq8c2d",
             *       "Content-Type": "application/json"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            waitForCallback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            maxWait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            pollConfig?: components["schemas"]["PollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            onCompleteUrl?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            onFailureUrl?: string;
            /** @description Sign the call with the team's signing secret (Standard Webhooks). Default: `false`. */
            sign?: boolean;
            dedupe?: components["schemas"]["DirectDedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The key of the flow that limits it, as stored.
             * @example customer-42
             */
            flow?: string;
            result?: components["schemas"]["TaskResultSummary"];
            /** @description Why it failed, for people. */
            error?: string;
            /**
             * @description Why it failed, for machines.
             * @example retries_exhausted
             */
            failureReason?: string;
            /** @description True for a task of a test key: it is never called. */
            sandbox?: boolean;
            /**
             * @description Id of the schedule that made it, if one did.
             * @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            schedule?: string;
            /**
             * Format: date-time
             * @description The time of its schedule that it was created for. Not for a schedule that was run manually.
             * @example 2026-03-01T09:30:00.000Z
             */
            scheduledFor?: string;
            /**
             * Format: date-time
             * @description When the failed task was dismissed: nobody needs to look at it any more.
             * @example 2026-03-01T09:30:00.000Z
             */
            dismissedAt?: string;
            /** @description The number of attempts. In lists, which do not have the attempts. */
            attemptCount?: number;
            /** @description The number of manual retries, if any. */
            retries?: number;
        };
        /** @description The application may do nothing of it any more. */
        EndedAuthorization: {
            authorization: {
                /**
                 * @description Identifies one consent of a person, with all its tokens.
                 * @example auth_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * Format: date-time
                 * @description When it was ended.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                endedAt: string;
            };
        };
        /** @description The session is over. */
        EndedOneSession: {
            session: {
                /**
                 * @description Identifies the session. It is not a credential.
                 * @example ses_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * Format: date-time
                 * @description From then on its token is refused.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                endedAt: string;
            };
        };
        /** @description The session is over. */
        EndedSession: {
            session: {
                /**
                 * Format: date-time
                 * @description From then on the token is refused.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                endedAt: string;
            };
        };
        /**
         * @description Every answer that is not a success.
         * @example {
         *       "error": "Task not found",
         *       "code": "task_not_found"
         *     }
         */
        Error: {
            /** @description What was refused and why, for people. */
            error: string;
            /**
             * @description The error code, for programs. More may be added.
             * @enum {string}
             */
            code: "api_key_required" | "api_key_invalid" | "token_invalid" | "metrics_token_unset" | "metrics_token_invalid" | "scope_missing" | "role_missing" | "test_key_refused" | "live_refused" | "session_required" | "session_bound" | "form_foreign" | "not_found" | "method_not_allowed" | "body_not_json" | "body_not_object" | "body_bounds" | "body_not_read" | "bodies_waiting" | "body_not_typed" | "body_too_large" | "body_coding_unknown" | "body_not_decoded" | "url_malformed" | "request_malformed" | "request_timeout" | "headers_too_large" | "invalid" | "cursor_foreign" | "batch_refused" | "vault_token_unknown" | "provider_unknown" | "idempotency_conflict" | "dedupe_conflict" | "callback_unknown" | "callback_not_awaited" | "rate_limited" | "test_mails_limited" | "too_many_waiting" | "too_many_streams" | "streams_full" | "task_not_found" | "task_ended" | "task_not_retryable" | "task_queue_gone" | "task_not_failed" | "task_not_ended" | "notification_unset" | "notification_pending" | "task_not_pending" | "bulk_not_found" | "bulk_ended" | "bulks_full" | "too_many_scans" | "queue_not_found" | "queue_exists" | "queue_default_kept" | "schedule_not_found" | "schedule_exists" | "message_not_found" | "url_group_not_found" | "url_group_used" | "list_too_large" | "webhook_not_found" | "webhook_off" | "delivery_not_found" | "delivery_pending" | "webhooks_full" | "alert_not_found" | "alerts_full" | "limit_reached" | "breaker_not_found" | "flow_not_found" | "flow_backlog_full" | "flows_full" | "tasks_full" | "team_limit" | "session_not_found" | "team_not_found" | "member_not_found" | "member_exists" | "last_owner" | "invitation_not_found" | "overloaded" | "crowded" | "database_away" | "space_low" | "stopping" | "api_key_not_found" | "api_keys_full" | "application_not_found" | "applications_full" | "authorization_not_found" | "vault_off" | "vault_token_not_found" | "vault_token_inside" | "vault_token_host" | "internal";
            /** @description Every invalid field, if there are several; `error` describes the first. */
            details?: {
                field: string;
                error: string;
            }[];
        };
        /**
         * @description Why a task runs, or does not.
         * @example {
         *       "task": {
         *         "id": "task_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *         "status": "pending"
         *       },
         *       "runnable": false,
         *       "starts_about": null,
         *       "reasons": [
         *         {
         *           "code": "queue_paused",
         *           "detail": "Queue \"emails\" is paused",
         *           "until": null
         *         }
         *       ]
         *     }
         */
        Explanation: {
            task: {
                /** @description `task_…` or a UUID, as the task was created. */
                id: string;
                /**
                 * @description The state of the task.
                 * @enum {string}
                 */
                status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            };
            /** @description No reason blocks it: it is pending, and the next free node starts it. */
            runnable: boolean;
            /**
             * Format: date-time
             * @description About when a pending task starts, computed from its delay, the rate of its flow, its place in the queue and the starts of the last minutes. An estimate: tasks that come with a higher priority go first. Null where it cannot be computed.
             */
            starts_about: string | null;
            /** @description All current reasons; empty for an ended task. */
            reasons: {
                /**
                 * @description The code of the reason, for programs. More may be added.
                 * @enum {string}
                 */
                code: "delayed" | "backing_off" | "queue_paused" | "queue_full" | "queue_rate" | "team_share" | "breaker_open" | "flow_full" | "flow_rate" | "flow_paused" | "behind" | "blocked_by" | "no_worker" | "call_under_way" | "awaiting_callback" | "polling" | "sandbox";
                /** @description One sentence for people. */
                detail: string;
                /**
                 * Format: date-time
                 * @description When it ends at the latest; null if unknown.
                 */
                until: string | null;
                /** @description Of `blocked_by`: the id of the task that holds the line. */
                blocked_by?: string;
            }[];
        };
        /** @description Failed tasks that failed in the same way. */
        FailureGroup: {
            /**
             * @description Their queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The host that was called.
             * @example api.example.com
             */
            host: string;
            /** @description Why they failed, as in their records. */
            failure_reason: string | null;
            /** @description How the last attempt was answered: a status code, `timeout` or `network`; null where it was not made to its end. */
            response_code: string | null;
            /**
             * @description The error of the newest of them, with the target's own words.
             * @example The target answered 402: Card declined for customer cus_1001
             */
            error: string;
            /** @description How many there are. */
            count: number;
            /** @description How many of them failed in each of 30 steps of the range, which are equally long. */
            course: number[];
            /** @description There may be more: not all tasks of the queue were scanned. */
            count_is_capped: boolean;
            /**
             * Format: date-time
             * @description When the first of them failed.
             * @example 2026-03-01T09:30:00.000Z
             */
            first_seen: string;
            /**
             * Format: date-time
             * @description When the last of them failed.
             * @example 2026-03-01T09:30:00.000Z
             */
            last_seen: string;
            /** @description The most frequent tags of them, at most three, each with the number of tasks that have it. */
            top_tags: {
                tag: string;
                count: number;
            }[];
            /** @description The most frequent entries of their metadata, at most three, each with the number of tasks. */
            top_metadata: {
                key: string;
                value: string;
                count: number;
            }[];
            /**
             * @description The newest task of the group.
             * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            sample_task: string;
            /** @description The filter that finds them, for `POST /v1/tasks/bulk` and the list of tasks. */
            filter: {
                queue: string;
                status: string;
                host?: string;
                /** @enum {string} */
                failure_reason?: "retries_exhausted" | "worker_lost" | "queue_deleted" | "poll_failed" | "poll_timeout" | "callback_timeout" | "token_revoked" | "blocked" | "not_retryable" | "expired";
                response_code?: string;
                error?: string;
                /** Format: date-time */
                created_after: string;
                /** @enum {string} */
                dismissed: "false";
                sandbox?: boolean;
            };
        };
        /** @description Groups of failed tasks, the largest first. */
        FailureList: {
            failures: components["schemas"]["FailureGroup"][];
        };
        /** @description A flow, the limits that hold, and what it is doing. */
        Flow: {
            /** @example customer-42 */
            key: string;
            /** @description Calls at once; null: no limit. */
            concurrency: number | null;
            /** @description Calls begun per period; null: no limit. */
            rate: number | null;
            /** @description Seconds; null without a rate. */
            period: number | null;
            /** @description Whether its tasks start one at a time, in the order of creation. */
            ordered: boolean;
            /**
             * @description What becomes of an ordered flow's line when a task fails.
             * @enum {string}
             */
            on_failure: "continue" | "block";
            /** @description Whether `Retry-After` pauses the flow. */
            pause_on_retry_after: boolean;
            /**
             * @description What holds a place.
             * @enum {string}
             */
            hold: "call" | "task";
            /** @description The most tasks that may wait; null: no limit. */
            max_waiting: number | null;
            /** @description Where each limit comes from: stored, or carried by the newest task that had it. */
            source: {
                /**
                 * @description Of the concurrency.
                 * @enum {string|null}
                 */
                concurrency: "stored" | "task" | null;
                /**
                 * @description Of rate and period.
                 * @enum {string|null}
                 */
                rate: "stored" | "task" | null;
                /**
                 * @description Of the order.
                 * @enum {string|null}
                 */
                ordered: "stored" | "task" | null;
            };
            /** @description No call begins. */
            paused: boolean;
            /** @description When a pause by `Retry-After` ends. */
            paused_until: string | null;
            /** @description Places in use. */
            active: number;
            /** @description Due tasks that wait, counted to 10,000. */
            waiting: number;
            /** @description Calls begun in the last period; 0 without a rate. */
            begun_in_period: number;
        };
        /** @description A flow. */
        FlowAnswer: {
            flow: components["schemas"]["Flow"];
        };
        /** @description Flows, the busiest first. */
        FlowList: {
            flows: components["schemas"]["Flow"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /**
         * @description A flow, with limits that hold unless others are stored for its key.
         * @example {
         *       "key": "customer-42",
         *       "concurrency": 2
         *     }
         */
        FlowOfTask: {
            /**
             * @description 1 to 128 characters of `A-Z a-z 0-9 . _ : @ -`; or `$host`, for the host of the call; or `$token`, for its vault token.
             * @example customer-42
             */
            key: string;
            /** @description Calls at once, over all queues and nodes. */
            concurrency?: number;
            /** @description Calls begun per period, over all queues and nodes. */
            rate?: number;
            /** @description Seconds. Default: 1. Only with `rate`. */
            period?: number;
            /** @description Its tasks start one at a time, in the order of creation, each when the one before has ended. `concurrency` is 1 then. */
            ordered?: boolean;
        };
        /** @description A link that was mailed to join the team; never shown again. */
        Invitation: {
            /**
             * @description Identifies the invitation.
             * @example inv_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description The invited address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description `viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations and applications; `owner` also other owners.
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "viewer";
            /**
             * @description The address of the person, or the name of the API key or application, that sent it.
             * @example grace@example.com
             */
            invitedBy: string;
            /**
             * Format: date-time
             * @description When the link was mailed.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Until then the link works, once.
             * @example 2026-03-01T09:30:00.000Z
             */
            expiresAt: string;
        };
        /** @description The invitation. */
        InvitationAnswer: {
            invitation: components["schemas"]["Invitation"];
        };
        /** @description The open invitations of the team, newest first. */
        InvitationList: {
            invitations: components["schemas"]["Invitation"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description The same for every address, known or not. */
        MagicLinkSent: {
            /** @example true */
            sent: boolean;
        };
        /**
         * @description What a bulk action would be about.
         * @example {
         *       "matched": 1200
         *     }
         */
        MatchedTasks: {
            /** @description Tasks that currently match the filter. */
            matched: number;
        };
        /** @description Whom the credential speaks for, and what it may do. */
        Me: {
            /**
             * @description The kind of credential.
             * @enum {string}
             */
            kind: "api_key" | "session" | "application";
            /**
             * @description Identifies the API key, the person or the application.
             * @example key_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description Its name; for a person the address.
             * @example Production
             */
            name: string;
            /**
             * @description `test`: tasks are accepted and never executed.
             * @enum {string}
             */
            environment: "live" | "test";
            /**
             * @description `viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations and applications; `owner` also other owners.
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "viewer";
            /** @description Its scopes, limited by its role. */
            scopes: ("tasks:read" | "tasks:write" | "queues:read" | "queues:write" | "tokens:read" | "tokens:write" | "tokens:use" | "apikeys:read" | "apikeys:write" | "schedules:read" | "schedules:write" | "webhooks:read" | "webhooks:write" | "team:read" | "team:write")[];
            team: {
                /**
                 * @description Identifies the team.
                 * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The name of the team, for people; need not be unique.
                 * @example Acme
                 */
                name: string;
                /**
                 * @description Sets the request limit and the other limits of the team.
                 * @enum {string}
                 */
                plan: "free" | "pro" | "enterprise";
            };
            /** @description The person who signed in or granted access; null if there is none, and for an application without `team:read`. */
            user: {
                /**
                 * @description Identifies the person, in every team.
                 * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The person's sign-in address.
                 * @example ada@example.com
                 */
                email: string;
            } | null;
            /** @description What the team's plan bounds, by name: `requestsPerMinute`, `callsInFlight`, `callsPerSecondToHost`, `eventStreams`, `timeoutSeconds`, `retries`, `retryDelaySeconds`, `pollIntervalSeconds`, `pollDurationSeconds`, `tasksOpen`, `bytesStored`, `queues`, `urlGroups`, `flowsOpen`, `flows`, `vaultTokens`, `applications`, `schedules`, `webhooks`, `loopMsPerSecond`, `jsonDepth`, `jsonKeys`, `jsonElements`, `jsonStringLength`. */
            limits: {
                [key: string]: {
                    /** @description The most there may be; null is no limit. */
                    max?: number | null;
                    /** @description How many there are; null where they are not counted. */
                    used?: number | null;
                    /** @description The least that a value may be, where the bound is from below; null is none. */
                    min?: number | null;
                };
            };
        };
        /** @description A person who belongs to the team. */
        Member: {
            /**
             * @description Identifies the person, in every team.
             * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description The person's sign-in address.
             * @example ada@example.com
             */
            email: string;
            /**
             * @description `viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations and applications; `owner` also other owners.
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "viewer";
            /**
             * Format: date-time
             * @description When the person joined the team.
             * @example 2026-03-01T09:30:00.000Z
             */
            joinedAt: string;
        };
        /** @description The member. */
        MemberAnswer: {
            member: components["schemas"]["Member"];
        };
        /** @description The members of the team, who joined first at the top. */
        MemberList: {
            members: components["schemas"]["Member"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description The application with its secret, which is shown here and nowhere else. */
        MintedApplication: {
            application: {
                /** @example app_01k9z3mxe5f8hrk3yv5pzq8c2d */
                clientId: string;
                /**
                 * @description The name shown on the consent page.
                 * @example Nightly reports
                 */
                name: string;
                /**
                 * @description Where people are sent back to, 1 to 20 of at most 2000 characters, each compared letter by letter: https; http on 127.0.0.1 or [::1] (whatever the port) or localhost; or a scheme of the application's own with a dot, such as `com.example.app:/callback`. Not needed without `authorization_code`.
                 * @example [
                 *       "https://reports.example.com/callback"
                 *     ]
                 */
                redirectUris: string[];
                /**
                 * @description The most that it can be granted, at least one of: `tasks:read`, `tasks:write`, `queues:read`, `queues:write`, `tokens:read`, `tokens:write`, `tokens:use`, `apikeys:read`, `apikeys:write`, `schedules:read`, `schedules:write`, `webhooks:read`, `webhooks:write`, `team:read`, `team:write`.
                 * @example [
                 *       "tasks:read",
                 *       "tasks:write"
                 *     ]
                 */
                scopes: string[];
                /**
                 * @description How it gets tokens: `authorization_code`, `refresh_token`, `client_credentials`. `refresh_token` goes with `authorization_code`. With `client_credentials` it acts on its own, as an admin of the team it belongs to.
                 * @default [
                 *       "authorization_code",
                 *       "refresh_token"
                 *     ]
                 */
                grantTypes: string[];
                /**
                 * Format: date-time
                 * @description When the application was registered.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                createdAt: string;
                /**
                 * @description The application's secret. Store it: it is not shown again.
                 * @example bhs_3f9a…
                 */
                clientSecret: string;
            };
        };
        /**
         * @description A team's name.
         * @example {
         *       "name": "Acme"
         *     }
         */
        NameTeam: {
            /**
             * @description The name of the team, for people; need not be unique.
             * @example Acme
             */
            name: string;
        };
        /** @description A direct call as it was accepted. With `wait`, it has the fields of its record too. */
        NewDirectTask: {
            /**
             * Format: uuid
             * @example 019a7e3a-75c5-7a31-a98f-db2dbf745c4d
             */
            id: string;
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /**
             * @description 1 to 10, higher is processed first.
             * @default 5
             */
            priority: number;
            /**
             * Format: date-time
             * @description When the task was accepted. It is on disk.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When it becomes eligible. Not in the answer to a repeated request.
             * @example 2026-03-01T09:30:00.000Z
             */
            runAt?: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            startedAt?: string;
            /**
             * Format: date-time
             * @description When it ended, completed, failed or cancelled.
             * @example 2026-03-01T09:30:00.000Z
             */
            completedAt?: string;
            /**
             * @description The body of the call. A string is sent unchanged; an object or an array as JSON, byte for byte as written, with `Content-Type: application/json` unless the headers have one. Without it the call has no body.
             * @example {
             *       "version": "…",
             *       "input": {
             *         "prompt": "a bell"
             *       }
             *     }
             */
            body?: string | {
                [key: string]: unknown;
            } | unknown[];
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            maxRetries?: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout?: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retryBackoff?: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retryDelay?: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retryMaxDelay?: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            noRetryStatuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expiresIn?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://api.replicate.com/v1/predictions
             */
            targetUrl: string;
            /**
             * @description Method of the call.
             * @default POST
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together, sent as they are. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "Authorization": "tok_01k9z3mxe5f8hrk3yv5pzq8c2d",
             *       "Content-Type": "application/json"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            waitForCallback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            maxWait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            pollConfig?: components["schemas"]["PollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            onCompleteUrl?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            onFailureUrl?: string;
            /** @description Sign the call with the team's signing secret (Standard Webhooks). Default: `false`. */
            sign?: boolean;
            dedupe?: components["schemas"]["DirectDedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The key of the flow that limits it, as stored.
             * @example customer-42
             */
            flow?: string;
            result?: components["schemas"]["TaskResult"];
            /** @description Why it failed, for people. */
            error?: string;
            /**
             * @description Why it failed, for machines.
             * @example retries_exhausted
             */
            failureReason?: string;
            /** @description True for a task of a test key: it is never called. */
            sandbox?: boolean;
            /**
             * @description Id of the schedule that made it, if one did.
             * @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            schedule?: string;
            /**
             * Format: date-time
             * @description The time of its schedule that it was created for. Not for a schedule that was run manually.
             * @example 2026-03-01T09:30:00.000Z
             */
            scheduledFor?: string;
            /**
             * Format: date-time
             * @description When the failed task was dismissed: nobody needs to look at it any more.
             * @example 2026-03-01T09:30:00.000Z
             */
            dismissedAt?: string;
            attempts?: components["schemas"]["DirectAttempt"][];
            polls?: components["schemas"]["DirectPolls"];
            notifications?: components["schemas"]["DirectNotificationState"][];
            /** @description The number of manual retries, if any. */
            retries?: number;
            /** @description Manual retries that replaced parts of the call, and which parts. The earlier values are not kept. */
            retriedWith?: {
                /**
                 * Format: date-time
                 * @description When the task was retried.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                at: string;
                /**
                 * @example [
                 *       "payload",
                 *       "headers"
                 *     ]
                 */
                fields: string[];
            }[];
        };
        /** @description What became of one notification to the task's completion address. */
        NotificationState: {
            /** @description The URL of the notification. */
            url: string;
            /**
             * @description `failed`: given up after the last try.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description The number of tries; a resend restarts at 0. */
            attempts: number;
            /** @description Why the last try failed; null before the first try and once it is delivered. */
            last_error: string | null;
            /**
             * Format: date-time
             * @description When the next try is due; null once it was delivered or given up.
             */
            next_at: string | null;
        };
        /**
         * @description A refusal in the form of RFC 6749 (5.2).
         * @example {
         *       "error": "invalid_grant",
         *       "error_description": "The code or refresh token was used before"
         *     }
         */
        OAuthError: {
            /** @description The error code of the RFC, for programs. */
            error: string;
            /** @description What was refused and why, for people. */
            error_description: string;
        };
        /** @description What was mailed. */
        OpenSession: {
            /**
             * @description The parameter `token` of the link.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            token: string;
        };
        /**
         * @description How to obtain the result by polling, instead of `provider`.
         * @example {
         *       "urlTemplate": "https://api.example.com/jobs/{startResult.body.id}",
         *       "statusPath": "status",
         *       "doneValues": [
         *         "done"
         *       ],
         *       "failValues": [
         *         "failed"
         *       ],
         *       "resultPath": "output"
         *     }
         */
        OwnPollConfig: {
            /**
             * @description The URL to poll with GET: https, or on the origin of the first call. May hold variables `{startResult.body.<path>}`, filled from the answer to the first call.
             * @example https://api.example.com/jobs/{startResult.body.id}
             */
            urlTemplate: string;
            /** @description Seconds between polls. Default: `5`. */
            interval?: number;
            /**
             * @description Dotted path to the status in the answer to a poll, or `_httpStatus`: the status code of the answer is the status.
             * @example status
             */
            statusPath: string;
            /** @description Status values that mean success, compared as text. */
            doneValues: string[];
            /** @description Status values that mean failure. Any other status means still running. */
            failValues: string[];
            /**
             * @description Dotted path to the result. Empty, or if nothing is there: the whole answer. `_binaryUrl`: the bytes are not stored, the result is the URL that they can be fetched from.
             * @example output
             */
            resultPath?: string;
            /**
             * @description Dotted path to what went wrong, in an answer that reports failure.
             * @example error
             */
            errorPath?: string;
            /**
             * @description The URL to fetch the result from once the job is done, if the answer to the poll does not hold it. May hold variables `{startResult.body.<path>}`, filled from the answer to the first call.
             * @example {startResult.body.response_url}
             */
            resultUrlTemplate?: string;
            /**
             * @description The URL to call once if the task is cancelled while it is polled. Best effort: what is answered changes nothing. May hold variables `{startResult.body.<path>}`, filled from the answer to the first call.
             * @example https://api.example.com/jobs/{startResult.body.id}/cancel
             */
            cancelUrlTemplate?: string;
            /**
             * @description Method of that call; default: POST.
             * @enum {string}
             */
            cancelMethod?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /** @description Send the first call's Authorization and X-API-Key with polls to the origin of the first call, or to an origin in the provider's catalog entry. Default: `true`. */
            forwardAuth?: boolean;
            /** @description Further headers of the first call to send along by the same rule. */
            forwardHeaders?: string[];
            /** @description Seconds of polling before the task fails. Default: `600`. */
            maxDuration?: number;
        };
        /** @description How the result of a task is obtained by polling. */
        PollConfig: {
            /**
             * @description The URL to poll with GET: https, or on the origin of the first call. May hold variables `{startResult.body.<path>}`, filled from the answer to the first call.
             * @example https://api.example.com/jobs/{startResult.body.id}
             */
            urlTemplate: string;
            /**
             * @description Seconds between polls.
             * @default 5
             */
            interval: number;
            /**
             * @description Dotted path to the status in the answer to a poll, or `_httpStatus`: the status code of the answer is the status.
             * @example status
             */
            statusPath: string;
            /** @description Status values that mean success, compared as text. */
            doneValues: string[];
            /** @description Status values that mean failure. Any other status means still running. */
            failValues: string[];
            /**
             * @description Dotted path to the result. Empty, or if nothing is there: the whole answer. `_binaryUrl`: the bytes are not stored, the result is the URL that they can be fetched from.
             * @example output
             */
            resultPath: string;
            /**
             * @description Dotted path to what went wrong, in an answer that reports failure.
             * @example error
             */
            errorPath?: string;
            /**
             * @description The URL to fetch the result from once the job is done, if the answer to the poll does not hold it. May hold variables `{startResult.body.<path>}`, filled from the answer to the first call.
             * @example {startResult.body.response_url}
             */
            resultUrlTemplate?: string;
            /**
             * @description The URL to call once if the task is cancelled while it is polled. Best effort: what is answered changes nothing. May hold variables `{startResult.body.<path>}`, filled from the answer to the first call.
             * @example https://api.example.com/jobs/{startResult.body.id}/cancel
             */
            cancelUrlTemplate?: string;
            /**
             * @description Method of that call; default: POST.
             * @enum {string}
             */
            cancelMethod?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Send the first call's Authorization and X-API-Key with polls to the origin of the first call, or to an origin in the provider's catalog entry.
             * @default true
             */
            forwardAuth: boolean;
            /** @description Further headers of the first call to send along by the same rule. */
            forwardHeaders?: string[];
            /**
             * @description Seconds of polling before the task fails.
             * @default 600
             */
            maxDuration: number;
        };
        /** @description How the job of a task that is being polled was asked for so far. `run_at` says when next. */
        Polls: {
            /** @description The number of polls. */
            count: number;
            /**
             * Format: date-time
             * @description When the last one was answered.
             * @example 2026-03-01T09:30:00.000Z
             */
            last_at: string;
            /**
             * @description Its answer: a status code, or the network failure.
             * @example 200
             * @example timeout
             */
            last_answer: string;
            /**
             * @description Why the last poll yielded no status, such as a name that does not resolve or a 503; omitted if it did.
             * @example The provider answered 503
             */
            last_error?: string;
        };
        /** @description A third party whose jobs can be polled. */
        Provider: {
            /**
             * @description The value of a task's `provider`.
             * @example replicate
             */
            id: string;
            /** @example Replicate */
            name: string;
            description: string;
            pollConfig: components["schemas"]["PollConfig"];
        };
        /** @description The catalog of providers. */
        ProviderList: {
            providers: components["schemas"]["Provider"][];
        };
        /**
         * @description The limits to store for a key. They replace what was stored, and win over what tasks carry, figure by figure.
         * @example {
         *       "concurrency": 5,
         *       "rate": 100,
         *       "period": 60
         *     }
         */
        PutFlow: {
            /** @description Calls at once, over all queues and nodes. */
            concurrency?: number;
            /** @description Calls begun per period, over all queues and nodes. */
            rate?: number;
            /** @description Seconds. Default: 1. Only with `rate`. */
            period?: number;
            /** @description Its tasks start one at a time, in the order of creation, each when the one before has ended. `concurrency` is 1 then. */
            ordered?: boolean;
            /**
             * @description Of an ordered flow: whether its line goes on after a failed task, or stops until that task is retried and completes, or is dismissed. Default: `continue`.
             * @enum {string}
             */
            on_failure?: "continue" | "block";
            /** @description Whether a 429 or 503 with `Retry-After` pauses the whole flow. Default: only for `host:` and `token:` keys. */
            pause_on_retry_after?: boolean;
            /**
             * @description `call`: a place is held during the call. `task`: until the task has ended. Default: `call`.
             * @enum {string}
             */
            hold?: "call" | "task";
            /** @description While so many tasks wait, further ones are refused with 429 `flow_backlog_full`. */
            max_waiting?: number;
        };
        /**
         * @description All of a schedule but its name: what is not given has its default.
         * @example {
         *       "cron": "30 9 * * mon-fri",
         *       "timezone": "Europe/Berlin",
         *       "task": {
         *         "queue": "default",
         *         "webhook_url": "https://example.com/hooks/report",
         *         "payload": {
         *           "kind": "daily"
         *         }
         *       }
         *     }
         */
        PutSchedule: {
            /**
             * @description Five fields (minute, hour, day of month, month, day of week), or six with seconds first. If both day fields are set, either one matches.
             * @example 30 9 * * mon-fri
             */
            cron: string;
            /**
             * @description The body of `POST /v1/tasks`, of either kind, without an exact time, an idempotency key and `dedupe`.
             * @example {
             *       "queue": "default",
             *       "webhook_url": "https://example.com/hooks/report",
             *       "payload": {
             *         "kind": "daily"
             *       }
             *     }
             */
            task: components["schemas"]["CreateTask"] | components["schemas"]["CreateDirectTask"];
            /**
             * @description An IANA time zone. A time that a clock change skips runs at the first instant after the gap, a time that occurs twice runs only the first time. Default: `UTC`.
             * @example Europe/Berlin
             */
            timezone?: string;
            /**
             * @description `skip`: the schedule does not fire while one of its tasks has not ended. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /**
             * @description Times that passed while no node was up create `one` task together; with `none` they create none if the newest of them is more than 60 s old. Default: `one`.
             * @enum {string}
             */
            catch_up?: "one" | "none";
            /** @description A paused schedule fires only manually. Default: `false`. */
            paused?: boolean;
        };
        /**
         * @description The endpoints of a URL group.
         * @example {
         *       "endpoints": [
         *         {
         *           "name": "billing",
         *           "url": "https://billing.example.com/hook"
         *         }
         *       ]
         *     }
         */
        PutUrlGroup: {
            /** @description In the order of their tasks. */
            endpoints: {
                /** @description Where its tasks go. */
                url: string;
                /** @description Names the endpoint within the group. */
                name?: string;
            }[];
        };
        /** @description A queue and its settings. */
        Queue: {
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example emails
             */
            name: string;
            /**
             * @description Tasks of this queue that may execute at the same time, across all nodes.
             * @default 5
             */
            concurrency: number;
            /**
             * @description Retries after a failed first attempt.
             * @default 3
             */
            max_retries: number;
            /**
             * @description Delay between attempts: always `retry_delay`, or doubling from it up to an hour.
             * @default exponential
             * @enum {string}
             */
            retry_backoff: "fixed" | "exponential";
            /**
             * @description Seconds before the first retry.
             * @default 1
             */
            retry_delay: number;
            /**
             * @description Maximum delay between two attempts in seconds.
             * @default 3600
             */
            retry_max_delay: number;
            /**
             * @description Answers that end a task at once, `failure_reason: "not_retryable"`. None unless it is said.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses: number[];
            /**
             * @description Seconds a call may take, from connecting to the last byte of the answer.
             * @default 30
             */
            timeout: number;
            /**
             * @description Strict order: tasks start in the order of creation, one at a time, each when the one before has ended. `concurrency` is 1, and priorities are ignored.
             * @default false
             */
            ordered: boolean;
            /**
             * @description Of an ordered queue: whether its line goes on after a failed task, or stops until that task is retried and completes, or is dismissed.
             * @default continue
             * @enum {string}
             */
            on_failure: "continue" | "block";
            /**
             * @description At most so many calls of the queue begin in any `rate_period` seconds, across all nodes; retries count. `false`: no rate.
             * @default false
             */
            rate: number | false;
            /** @description Seconds; null without a rate. */
            rate_period: number | null;
            /** @description Circuit breaker, for each host that the queue calls: attempts that fail by timeout, network error or 5xx open it, and the tasks of that host then wait without losing an attempt, until one of them as a probe is answered. `true`: with the defaults. */
            breaker: false | {
                /**
                 * @description It opens at so many failed attempts within `within` seconds,
                 * @default 20
                 */
                failures: number;
                /**
                 * @description if they are at least this part of all attempts in that time.
                 * @default 0.9
                 */
                ratio: number;
                /**
                 * @description Seconds.
                 * @default 60
                 */
                within: number;
                /**
                 * @description Seconds until the probe; doubles with every probe that fails, up to 600.
                 * @default 30
                 */
                cooldown: number;
            };
            /** @description A paused queue accepts tasks and starts none. */
            paused: boolean;
            /**
             * Format: date-time
             * @description When the queue was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a setting or the pause switch last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
        /** @description All queues of the team. */
        QueueList: {
            queues: components["schemas"]["QueueWithStats"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description What happened in a queue, with a number for each step. */
        QueueSeries: {
            /** @description The queue; null in `total`. */
            queue: string | null;
            /** @description Tasks created. */
            created: number[];
            /** @description Tasks that completed. */
            completed: number[];
            /** @description Tasks that failed for good. */
            failed: number[];
            /** @description Tasks that were cancelled. */
            cancelled: number[];
            /** @description Attempts that failed and were followed by another, and tasks that were retried by hand. */
            retried: number[];
            /** @description Pending tasks, due or not, sampled once a minute; the maximum in a longer step. Null if no node sampled. */
            pending: (number | null)[];
            /** @description From the time a task was due until its attempt began, of attempts begun in the step. */
            wait_ms: {
                /** @description Half of them took no longer; null where there was none. */
                p50: (number | null)[];
                /** @description Of twenty, nineteen took no longer; null where there was none. */
                p95: (number | null)[];
            };
            /** @description How long calls took, of attempts that ended in the step. */
            duration_ms: {
                /** @description Half of them took no longer; null where there was none. */
                p50: (number | null)[];
                /** @description Of twenty, nineteen took no longer; null where there was none. */
                p95: (number | null)[];
            };
            /**
             * Format: date-time
             * @description When the oldest pending task became due; null if none is due.
             */
            oldest_pending_at: string | null;
            /** @description The current state. */
            now: {
                /** @description Tasks that are pending. */
                pending: number;
                /** @description Tasks that are being called. */
                active: number;
                /** @description Tasks that wait for a callback. */
                waiting: number;
                /** @description Tasks that are polled. */
                polling: number;
            };
        };
        /** @description What happened in the queues of the team. */
        QueueStatistics: {
            stats: {
                /**
                 * @description As requested.
                 * @enum {string}
                 */
                range: "15m" | "1h" | "6h" | "24h" | "7d" | "30d";
                /**
                 * Format: date-time
                 * @description When the first step begins.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                from: string;
                /**
                 * Format: date-time
                 * @description When it was asked for: the last step is not over.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                to: string;
                /** @description The length of a step. */
                step_seconds: number;
                /** @description The start of each step. */
                at: string[];
                /** @description By name. With more than 100 queues, or more than 1 MiB of them, only the busiest. */
                queues: components["schemas"]["QueueSeries"][];
                total: components["schemas"]["QueueSeries"];
            };
        };
        /** @description How many tasks of the queue are in each state. */
        QueueStats: {
            /** @description Waiting to start, delayed or to be retried. */
            pending: number;
            /** @description Being executed now. */
            active: number;
            completed: number;
            failed: number;
            /** @description Waiting for a callback. */
            waiting: number;
            /** @description Being polled. */
            polling: number;
            cancelled: number;
        };
        /** @description A queue, its settings and its counters. */
        QueueWithStats: {
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example emails
             */
            name: string;
            /**
             * @description Tasks of this queue that may execute at the same time, across all nodes.
             * @default 5
             */
            concurrency: number;
            /**
             * @description Retries after a failed first attempt.
             * @default 3
             */
            max_retries: number;
            /**
             * @description Delay between attempts: always `retry_delay`, or doubling from it up to an hour.
             * @default exponential
             * @enum {string}
             */
            retry_backoff: "fixed" | "exponential";
            /**
             * @description Seconds before the first retry.
             * @default 1
             */
            retry_delay: number;
            /**
             * @description Maximum delay between two attempts in seconds.
             * @default 3600
             */
            retry_max_delay: number;
            /**
             * @description Answers that end a task at once, `failure_reason: "not_retryable"`. None unless it is said.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses: number[];
            /**
             * @description Seconds a call may take, from connecting to the last byte of the answer.
             * @default 30
             */
            timeout: number;
            /**
             * @description Strict order: tasks start in the order of creation, one at a time, each when the one before has ended. `concurrency` is 1, and priorities are ignored.
             * @default false
             */
            ordered: boolean;
            /**
             * @description Of an ordered queue: whether its line goes on after a failed task, or stops until that task is retried and completes, or is dismissed.
             * @default continue
             * @enum {string}
             */
            on_failure: "continue" | "block";
            /**
             * @description At most so many calls of the queue begin in any `rate_period` seconds, across all nodes; retries count. `false`: no rate.
             * @default false
             */
            rate: number | false;
            /** @description Seconds; null without a rate. */
            rate_period: number | null;
            /** @description Circuit breaker, for each host that the queue calls: attempts that fail by timeout, network error or 5xx open it, and the tasks of that host then wait without losing an attempt, until one of them as a probe is answered. `true`: with the defaults. */
            breaker: false | {
                /**
                 * @description It opens at so many failed attempts within `within` seconds,
                 * @default 20
                 */
                failures: number;
                /**
                 * @description if they are at least this part of all attempts in that time.
                 * @default 0.9
                 */
                ratio: number;
                /**
                 * @description Seconds.
                 * @default 60
                 */
                within: number;
                /**
                 * @description Seconds until the probe; doubles with every probe that fails, up to 600.
                 * @default 30
                 */
                cooldown: number;
            };
            /** @description A paused queue accepts tasks and starts none. */
            paused: boolean;
            /**
             * Format: date-time
             * @description When the queue was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When a setting or the pause switch last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
            stats: components["schemas"]["QueueStats"];
        };
        /** @description What it needs, part by part. */
        Readiness: {
            /** @description `ok`, or `unavailable`. */
            status: string;
            /**
             * @description Each check by name: `ok`, or what is wrong.
             * @example {
             *       "database": "ok"
             *     }
             */
            checks: {
                [key: string]: string;
            };
        };
        /** @description The person is no member any more. */
        RemovedMember: {
            member: {
                /**
                 * @description Identifies the person, in every team.
                 * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The person's sign-in address.
                 * @example ada@example.com
                 */
                email: string;
                /**
                 * Format: date-time
                 * @description When the person ceased to be a member.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                removedAt: string;
            };
        };
        /**
         * @description Who wants to sign in.
         * @example {
         *       "email": "ada@example.com"
         *     }
         */
        RequestMagicLink: {
            /**
             * @description The address that gets the link.
             * @example ada@example.com
             */
            email: string;
        };
        /** @description The task that the callback ended. */
        ResolvedTask: {
            task: {
                /**
                 * @description `task_…` or a UUID, as the task was created.
                 * @example 019a7e3a-75c5-7a31-a98f-db2dbf745c4d
                 */
                id: string;
                /**
                 * @description The state of the task.
                 * @enum {string}
                 */
                status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
                result?: components["schemas"]["TaskResult"];
                /**
                 * Format: date-time
                 * @description When the task was accepted.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description When the callback ended it.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                completedAt?: string;
            };
        };
        /**
         * @description How a task is restarted. All fields and the body are optional.
         * @example {
         *       "delay": 60
         *     }
         * @example {
         *       "payload": {
         *         "user_id": 43
         *       }
         *     }
         */
        RetryTask: {
            /** @description Seconds before the task becomes eligible for execution. Default: `0`. */
            delay?: number;
            /** @description 1 to 10, higher is processed first. Default: unchanged. */
            priority?: number;
            /** @description Of a queue task: replaces the payload. Default: unchanged. */
            payload?: unknown;
            /** @description Of a direct task: replaces the body. Default: unchanged. */
            body?: string | {
                [key: string]: unknown;
            } | unknown[];
            /**
             * @description Replaces all headers. Default: unchanged.
             * @example {
             *       "X-Source": "fixed"
             *     }
             */
            headers?: {
                [key: string]: string;
            };
            /** @description Of a queue task: replaces the URL. Default: unchanged. */
            webhook_url?: string;
            /** @description Of a direct task: replaces the URL. Default: unchanged. */
            targetUrl?: string;
        };
        /** @description A form, url-encoded. */
        RevocationRequest: {
            /** @description An access or refresh token. */
            token: string;
            /** @description Not needed: both kinds are looked for. */
            token_type_hint?: string;
            /**
             * @description The application, unless it is in the `Authorization` header.
             * @example app_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            client_id?: string;
            /**
             * @description Its secret, unless it is in the `Authorization` header.
             * @example bhs_3f9a…
             */
            client_secret?: string;
        };
        /** @description The token does not count any more, or never did. */
        RevokedAccess: {
            /**
             * @description Always `true`, also for an unknown token (RFC 7009).
             * @example true
             */
            revoked: boolean;
        };
        /** @description The key is refused from now on. */
        RevokedApiKey: {
            apiKey: {
                /** @example key_01k9z3mxe5f8hrk3yv5pzq8c2d */
                id: string;
                /**
                 * @description A label, for people; need not be unique.
                 * @example Billing service
                 */
                name: string;
                /**
                 * Format: date-time
                 * @description When the key was revoked.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                revokedAt: string;
            };
        };
        /** @description The link no longer works. */
        RevokedInvitation: {
            invitation: {
                /**
                 * @description Identifies the invitation.
                 * @example inv_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The invited address.
                 * @example ada@example.com
                 */
                email: string;
                /**
                 * Format: date-time
                 * @description When the invitation was revoked.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                revokedAt: string;
            };
        };
        /** @description The token is revoked and its value is gone. */
        RevokedToken: {
            token: {
                /**
                 * @description Use this id in the headers of a task.
                 * @example tok_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description A label, for people; need not be unique.
                 * @example Replicate, production
                 */
                name: string;
                /**
                 * Format: date-time
                 * @description When the token was revoked.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                revokedAt: string;
            };
        };
        /**
         * @description The sandbox of the team.
         * @example {
         *       "sandbox": {
         *         "now": "2026-01-31T10:00:00.000Z",
         *         "ahead_seconds": 3600
         *       }
         *     }
         */
        Sandbox: {
            sandbox: {
                /**
                 * Format: date-time
                 * @description What the clock of the sandbox shows. The times in the records of its tasks are by it.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                now: string;
                /** @description Seconds by which the clock is ahead. */
                ahead_seconds: number;
            };
        };
        /**
         * @description How much time has passed.
         * @example {
         *       "advanced": 3600,
         *       "stopped": null,
         *       "sandbox": {
         *         "now": "2026-01-31T10:00:00.000Z",
         *         "ahead_seconds": 3600
         *       }
         *     }
         */
        SandboxAdvanced: {
            /** @description Seconds that the clock advanced: fewer than requested if too much happens within them. */
            advanced: number;
            /** @description Why fewer seconds passed than were asked for; null if all of them did. */
            stopped: string | null;
            sandbox: {
                /**
                 * Format: date-time
                 * @description What the clock of the sandbox shows. The times in the records of its tasks are by it.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                now: string;
                /** @description Seconds by which the clock is ahead. */
                ahead_seconds: number;
            };
        };
        /** @description A schedule. */
        Schedule: {
            /** @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example nightly-report
             */
            name: string;
            /**
             * @description Five fields (minute, hour, day of month, month, day of week), or six with seconds first. If both day fields are set, either one matches.
             * @example 30 9 * * mon-fri
             */
            cron: string;
            /**
             * @description An IANA time zone. A time that a clock change skips runs at the first instant after the gap, a time that occurs twice runs only the first time.
             * @default UTC
             * @example Europe/Berlin
             */
            timezone: string;
            /**
             * @description `skip`: the schedule does not fire while one of its tasks has not ended.
             * @default allow
             * @enum {string}
             */
            overlap: "allow" | "skip";
            /**
             * @description Times that passed while no node was up create `one` task together; with `none` they create none if the newest of them is more than 60 s old.
             * @default one
             * @enum {string}
             */
            catch_up: "one" | "none";
            /**
             * @description A paused schedule fires only manually.
             * @default false
             */
            paused: boolean;
            /** @description The next five times; none while it is paused. */
            next_runs: string[];
            /** @description Null if it no longer exists. */
            last_task: components["schemas"]["ScheduleLastTask"] | null;
            /** @description Null if the last firing created its task, or was skipped. */
            last_error: components["schemas"]["ScheduleLastError"] | null;
            /**
             * Format: date-time
             * @description When the schedule was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
            /**
             * @description As it was written.
             * @example {
             *       "queue": "default",
             *       "webhook_url": "https://example.com/hooks/report",
             *       "payload": {
             *         "kind": "daily"
             *       }
             *     }
             */
            task: components["schemas"]["CreateTask"] | components["schemas"]["CreateDirectTask"];
        };
        /** @description A schedule. */
        ScheduleAnswer: {
            schedule: components["schemas"]["Schedule"];
        };
        /** @description Why the last firing made no task. */
        ScheduleLastError: {
            /**
             * Format: date-time
             * @description When it was tried.
             * @example 2026-03-01T09:30:00.000Z
             */
            at: string;
            /** @description The error that creating such a task would get. */
            error: string;
        };
        /** @description The last task that a schedule made. */
        ScheduleLastTask: {
            /**
             * @description `task_…` or a UUID, by its shape.
             * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description The state of the task.
             * @example completed
             */
            status: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
        };
        /** @description Schedules by name. */
        ScheduleList: {
            schedules: components["schemas"]["ScheduleSummary"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description A schedule in a list: all of it but its task. */
        ScheduleSummary: {
            /** @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description 1 to 64 letters, digits or hyphens; unique in the team; never changes.
             * @example nightly-report
             */
            name: string;
            /**
             * @description Five fields (minute, hour, day of month, month, day of week), or six with seconds first. If both day fields are set, either one matches.
             * @example 30 9 * * mon-fri
             */
            cron: string;
            /**
             * @description An IANA time zone. A time that a clock change skips runs at the first instant after the gap, a time that occurs twice runs only the first time.
             * @default UTC
             * @example Europe/Berlin
             */
            timezone: string;
            /**
             * @description `skip`: the schedule does not fire while one of its tasks has not ended.
             * @default allow
             * @enum {string}
             */
            overlap: "allow" | "skip";
            /**
             * @description Times that passed while no node was up create `one` task together; with `none` they create none if the newest of them is more than 60 s old.
             * @default one
             * @enum {string}
             */
            catch_up: "one" | "none";
            /**
             * @description A paused schedule fires only manually.
             * @default false
             */
            paused: boolean;
            /** @description The next five times; none while it is paused. */
            next_runs: string[];
            /** @description Null if it no longer exists. */
            last_task: components["schemas"]["ScheduleLastTask"] | null;
            /** @description Null if the last firing created its task, or was skipped. */
            last_error: components["schemas"]["ScheduleLastError"] | null;
            /**
             * Format: date-time
             * @description When the schedule was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
        /** @description A session of the person who is signed in. */
        Session: {
            /**
             * @description Identifies the session. It is not a credential.
             * @example ses_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /** @description The team of the session. */
            team: {
                /**
                 * @description Identifies the team.
                 * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The name of the team, for people; need not be unique.
                 * @example Acme
                 */
                name: string;
            };
            /**
             * Format: date-time
             * @description When the person signed in, or went to this team.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description The session ends then by itself.
             * @example 2026-03-01T09:30:00.000Z
             */
            expiresAt: string;
            /** @description Whether it is the current session. */
            current: boolean;
        };
        /** @description The sessions of the person, the newest first. */
        SessionList: {
            sessions: components["schemas"]["Session"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description A new session. */
        SignedIn: {
            session: {
                /**
                 * @description Send it as `Authorization: Bearer <token>`. It is shown only here.
                 * @example eyJhbGciOiJIUzI1NiIsImtpZCI6Ij…
                 */
                token: string;
                /**
                 * Format: date-time
                 * @description The session ends then, 24 hours after the sign-in.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                expiresAt: string;
            };
            user: {
                /**
                 * @description Identifies the person.
                 * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The person's address.
                 * @example ada@example.com
                 */
                email: string;
            };
            team: {
                /**
                 * @description Identifies the team.
                 * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                id: string;
                /**
                 * @description The name of the team, for people; need not be unique.
                 * @example Acme
                 */
                name: string;
                /**
                 * @description Sets the request limit and the other limits of the team.
                 * @enum {string}
                 */
                plan: "free" | "pro" | "enterprise";
            };
        };
        /** @description What signs the calls of the team. */
        SigningSecretAnswer: {
            signingSecret: {
                /**
                 * @description The key of the signature, for a Standard Webhooks library.
                 * @example whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=
                 */
                secret: string;
                /**
                 * Format: date-time
                 * @description When the secret was made.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                createdAt: string;
                /**
                 * Format: date-time
                 * @description Until then the previous secret signs as well; null if there is none.
                 */
                previousValidUntil: string | null;
            };
        };
        /**
         * @description How a task of the sandbox is to go, instead of a call. Only with a test key.
         * @example {
         *       "outcome": "fail",
         *       "response_code": 503,
         *       "attempts": 1
         *     }
         */
        Simulation: {
            /**
             * @description The simulated result of the call: `complete`, a 2xx; `fail`, another status; `timeout`, no answer; `callback`, a 2xx after which the task waits and its callback ends it. A task that is polled or waits for a callback does so after `complete` too.
             * @enum {string}
             */
            outcome: "complete" | "fail" | "timeout" | "callback";
            /** @description Duration of the attempt in seconds, or of the wait until the task is ended. Default: `0`. */
            after?: number;
            /**
             * @description The body of the answer or of the callback: text, or any other JSON value, kept as JSON; at most 64 KiB.
             * @example {
             *       "ok": true
             *     }
             */
            body?: unknown;
            /** @description The first attempt with this outcome; earlier ones fail with 500. Default: `1`. */
            attempts?: number;
            /** @description The status code of the answer. Default: 200, or 500 with `fail`. */
            response_code?: number;
        };
        /** @description Where to. */
        SwitchTeam: {
            /**
             * @description Identifies the team.
             * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            teamId: string;
        };
        /** @description One process of Bellhop. */
        SystemNode: {
            /**
             * @description Its machine and process.
             * @example web-1:4711
             */
            name: string;
            /**
             * @description `api` serves requests, `worker` makes calls, `all` does both.
             * @enum {string}
             */
            role: "all" | "api" | "worker";
            /** @example 0.1.0 */
            version: string;
            /**
             * Format: date-time
             * @description When it started.
             * @example 2026-03-01T09:30:00.000Z
             */
            startedAt: string;
            /** @description Age of the last heartbeat in milliseconds; a healthy node sends one every 4 s. */
            lagMs: number;
            /**
             * @description Its right to make calls: `held`; `expired`, not renewed in time; `lost`, its tasks were released; `none` for an `api` node.
             * @enum {string}
             */
            lease: "held" | "expired" | "lost" | "none";
            /** @description Slots that it holds, over all queues. */
            slots: number;
            /** @description Calls in flight. */
            callsInFlight: number;
            /** @description Maximum number of calls in flight. */
            maxInFlight: number;
            /** @description The offset of its clock from the database's, in milliseconds. */
            clockOffsetMs: number;
            /** @description The longest delay of its event loop between its last two heartbeats, in milliseconds. */
            loopLagMs: number;
        };
        /** @description The nodes and their database. */
        SystemState: {
            /** @description In the order of their start. A crashed node is listed for an hour. */
            nodes: components["schemas"]["SystemNode"][];
            database: {
                /**
                 * @description The version of PostgreSQL.
                 * @example 17.5
                 */
                version: string;
                /** @description The version of Bellhop's schema. */
                schema: number;
                /** @description Whether it is the embedded PostgreSQL. */
                embedded: boolean;
                /** @description Its size. */
                sizeBytes: number;
                /** @description Open connections to it. */
                connections: number;
                /** @description Maximum connections to its server, over all databases. */
                maxConnections: number;
                /** @description Its disk, if embedded, or its limit; null if neither is known. */
                disk: {
                    /** @description Free space; with `BELLHOP_DATABASE_LIMIT`, what is left of it. */
                    freeBytes: number;
                    /** @description The used part. */
                    usedPercent: number;
                } | null;
            };
            events: {
                /** @description For how long an open transaction has held back event streams and webhooks; 0 if none has for a second. */
                behindSeconds: number;
                /** @description The transaction that has held them back for longest; null if none has for a second. */
                holder: {
                    /**
                     * @description The name that its program gave PostgreSQL; of a prepared transaction its own name.
                     * @example psql
                     */
                    application: string;
                    /**
                     * @description The role that it signed in with.
                     * @example postgres
                     */
                    user: string;
                    /** @description The process of PostgreSQL; null for a prepared transaction. */
                    pid: number | null;
                    /**
                     * @description As in `pg_stat_activity`, or `prepared`; null if Bellhop's role may not see it.
                     * @example idle in transaction
                     */
                    state: string | null;
                    /**
                     * Format: date-time
                     * @description When it began; when it was first seen if Bellhop's role may not see that.
                     * @example 2026-03-01T09:30:00.000Z
                     */
                    since: string;
                } | null;
            };
        };
        /** @description The record of a task. */
        Task: {
            /** @example task_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /**
             * @description 1 to 10, higher is processed first.
             * @default 5
             */
            priority: number;
            /**
             * Format: date-time
             * @description When the task was accepted. It is on disk.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it becomes, or became, eligible: later after a failed attempt that is retried.
             * @example 2026-03-01T09:30:00.000Z
             */
            run_at: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it ended, completed, failed or cancelled.
             * @example 2026-03-01T09:30:00.000Z
             */
            completed_at?: string;
            /**
             * @description Any JSON value, sent as the body of the call, byte for byte as written. Default, also for null: `{}`.
             * @example {
             *       "user_id": 42
             *     }
             */
            payload: unknown;
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            max_retries: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retry_backoff: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retry_delay: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retry_max_delay: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expires_in?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://example.com/hooks/welcome
             */
            webhook_url: string;
            /**
             * @description Method of the call.
             * @default POST
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "X-Source": "signup"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            wait_for_callback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            max_wait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            poll_config?: components["schemas"]["PollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            on_complete_url?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            on_failure_url?: string;
            dedupe?: components["schemas"]["Dedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The key of the flow that limits it, as stored.
             * @example customer-42
             */
            flow?: string;
            result?: components["schemas"]["TaskResult"];
            /** @description Why it failed, for people. */
            error?: string;
            /**
             * @description Why it failed, for machines.
             * @example retries_exhausted
             */
            failure_reason?: string;
            /** @description True for a task of a test key: it is never called. */
            sandbox?: boolean;
            /**
             * @description Id of the schedule that made it, if one did.
             * @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            schedule?: string;
            /**
             * Format: date-time
             * @description The time of its schedule that it was created for. Not for a schedule that was run manually.
             * @example 2026-03-01T09:30:00.000Z
             */
            scheduled_for?: string;
            /**
             * Format: date-time
             * @description When the failed task was dismissed: nobody needs to look at it any more.
             * @example 2026-03-01T09:30:00.000Z
             */
            dismissed_at?: string;
            attempts: components["schemas"]["Attempt"][];
            polls?: components["schemas"]["Polls"];
            notifications?: components["schemas"]["NotificationState"][];
            /** @description The number of manual retries, if any. */
            retries?: number;
            /** @description Manual retries that replaced parts of the call, and which parts. The earlier values are not kept. */
            retried_with?: {
                /**
                 * Format: date-time
                 * @description When the task was retried.
                 * @example 2026-03-01T09:30:00.000Z
                 */
                at: string;
                /**
                 * @example [
                 *       "payload",
                 *       "headers"
                 *     ]
                 */
                fields: string[];
            }[];
        };
        /** @description One page of tasks. */
        TaskList: {
            /** @description In the requested order, each in the shape of its creation. */
            tasks: (components["schemas"]["TaskSummary"] | components["schemas"]["DirectTaskSummary"])[];
            pagination: {
                /** @description Matching tasks on all pages. Exact for queue and status; otherwise counted up to 10,000, over 10,000 scanned tasks. */
                total: number;
                /** @description True if there may be more than `total`. */
                totalIsCapped?: boolean;
                limit: number;
                offset: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description Told once when a task has ended. */
        TaskNotification: {
            /**
             * @description How it ended.
             * @enum {string}
             */
            type: "task.completed" | "task.failed" | "task.cancelled";
            /**
             * Format: date-time
             * @description When it ended.
             * @example 2026-03-01T09:30:00.000Z
             */
            timestamp: string;
            data: {
                /** @description The whole record, as the API shows it. */
                task: components["schemas"]["Task"] | components["schemas"]["DirectTask"];
            };
        };
        /** @description The last answer of the target, or what a callback brought. */
        TaskResult: {
            statusCode: number;
            /**
             * @description Headers of the answer, names in lower case.
             * @example {
             *       "content-type": "text/plain"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description The answer as text, at most 1 MiB (`BELLHOP_RESULT_LIMIT`), or the whole body of a callback. */
            body: string;
            /** @description Milliseconds. */
            duration: number;
            /** @description True if the body was cut. */
            truncated?: boolean;
        };
        /** @description A result in a list: everything but its body. */
        TaskResultSummary: {
            statusCode: number;
            /**
             * @description Headers of the answer, names in lower case.
             * @example {
             *       "content-type": "text/plain"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description Milliseconds. */
            duration: number;
            /** @description True if the body was cut. */
            truncated?: boolean;
        };
        /** @description A task in a list: everything but its payload, its attempts and the body of its result. */
        TaskSummary: {
            /** @example task_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description Name of an existing queue.
             * @example emails
             */
            queue: string;
            /**
             * @description The state of the task.
             * @enum {string}
             */
            status: "pending" | "active" | "completed" | "failed" | "waiting" | "polling" | "cancelled";
            /**
             * @description 1 to 10, higher is processed first.
             * @default 5
             */
            priority: number;
            /**
             * Format: date-time
             * @description When the task was accepted. It is on disk.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it becomes, or became, eligible: later after a failed attempt that is retried.
             * @example 2026-03-01T09:30:00.000Z
             */
            run_at: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             * @example 2026-03-01T09:30:00.000Z
             */
            started_at?: string;
            /**
             * Format: date-time
             * @description When it ended, completed, failed or cancelled.
             * @example 2026-03-01T09:30:00.000Z
             */
            completed_at?: string;
            /** @description Retries after a failed first attempt. Default: the queue's, at the moment of creation. */
            max_retries: number;
            /** @description Seconds the call may take. Default: the queue's, at the moment of creation. */
            timeout: number;
            /**
             * @description Default: the queue's, at the moment of creation.
             * @enum {string}
             */
            retry_backoff: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: the queue's, at the moment of creation. */
            retry_delay: number;
            /** @description Seconds that no wait between two attempts exceeds. Default: the queue's, at the moment of creation. */
            retry_max_delay: number;
            /**
             * @description Answers that end the task at once, `not_retryable`. Default: the queue's, at the moment of creation; `[]` for none.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses?: number[];
            /** @description Seconds from creation in which the first attempt must begin; otherwise the task fails, `expired`. A delay does not extend it, a manual retry restarts it. */
            expires_in?: number;
            /**
             * @description The absolute http or https URL to call, without credentials, at most 8192 characters.
             * @example https://example.com/hooks/welcome
             */
            webhook_url: string;
            /**
             * @description Method of the call.
             * @default POST
             * @enum {string}
             */
            method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Headers of the call, at most 64 and 16 KiB together. Hop-by-hop headers, Host and Content-Length are refused. A value that starts with `tok_` refers to a vault token; one that has the id of a vault token elsewhere in it is refused.
             * @example {
             *       "X-Source": "signup"
             *     }
             */
            headers: {
                [key: string]: string;
            };
            /** @description After a 2xx the task waits for its callback instead of completing. Default: true if the call contains `{callbackUrl}` or `{callbackId}` and the task is not polled. With false they are sent as written. */
            wait_for_callback?: boolean;
            /** @description Seconds that the task may wait for its callback before it fails. Default: `3600`. */
            max_wait?: number;
            /**
             * @description Id of a catalog entry: after a 2xx the result is obtained by polling.
             * @example replicate
             */
            provider?: string;
            poll_config?: components["schemas"]["PollConfig"];
            /**
             * @description Called once when the task has ended, completed, failed or cancelled, with the record of the task.
             * @example https://example.com/hooks/task-ended
             */
            on_complete_url?: string;
            /**
             * @description Like the address for the end of a task, but called only when the task has failed or was cancelled. Both may be given.
             * @example https://example.com/hooks/task-failed
             */
            on_failure_url?: string;
            dedupe?: components["schemas"]["Dedupe"];
            /**
             * @description At most 10 distinct words of the caller's own.
             * @example [
             *       "signup",
             *       "eu"
             *     ]
             */
            tags?: string[];
            /**
             * @description Strings of the caller's own, at most 16 and 1 KiB together, keys included.
             * @example {
             *       "order": "4711"
             *     }
             */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description The key of the flow that limits it, as stored.
             * @example customer-42
             */
            flow?: string;
            result?: components["schemas"]["TaskResultSummary"];
            /** @description Why it failed, for people. */
            error?: string;
            /**
             * @description Why it failed, for machines.
             * @example retries_exhausted
             */
            failure_reason?: string;
            /** @description True for a task of a test key: it is never called. */
            sandbox?: boolean;
            /**
             * @description Id of the schedule that made it, if one did.
             * @example sch_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            schedule?: string;
            /**
             * Format: date-time
             * @description The time of its schedule that it was created for. Not for a schedule that was run manually.
             * @example 2026-03-01T09:30:00.000Z
             */
            scheduled_for?: string;
            /**
             * Format: date-time
             * @description When the failed task was dismissed: nobody needs to look at it any more.
             * @example 2026-03-01T09:30:00.000Z
             */
            dismissed_at?: string;
            /** @description The number of attempts. In lists, which do not have the attempts. */
            attempt_count?: number;
            /** @description The number of manual retries, if any. */
            retries?: number;
        };
        /** @description A team. */
        Team: {
            /**
             * @description Identifies the team.
             * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description The name of the team, for people; need not be unique.
             * @example Acme
             */
            name: string;
            /**
             * @description Sets the request limit and the other limits of the team.
             * @enum {string}
             */
            plan: "free" | "pro" | "enterprise";
            /**
             * Format: date-time
             * @description When the team was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
        };
        /** @description The team. */
        TeamAnswer: {
            team: components["schemas"]["Team"];
        };
        /** @description The teams of the person, the one joined first at the top. */
        TeamList: {
            teams: components["schemas"]["TeamMembership"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description A team that the person belongs to. */
        TeamMembership: {
            /**
             * @description Identifies the team.
             * @example team_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description The name of the team, for people; need not be unique.
             * @example Acme
             */
            name: string;
            /**
             * @description Sets the request limit and the other limits of the team.
             * @enum {string}
             */
            plan: "free" | "pro" | "enterprise";
            /**
             * @description `viewer` reads; `member` also changes tasks, queues and vault tokens; `admin` also API keys, members, invitations and applications; `owner` also other owners.
             * @enum {string}
             */
            role: "owner" | "admin" | "member" | "viewer";
            /**
             * Format: date-time
             * @description When the person joined the team.
             * @example 2026-03-01T09:30:00.000Z
             */
            joinedAt: string;
            /** @description Whether this session is in the team. */
            current: boolean;
        };
        /** @description A stored credential, without its value. */
        Token: {
            /**
             * @description Use this id in the headers of a task.
             * @example tok_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description A label, for people; need not be unique.
             * @example Replicate, production
             */
            name: string;
            /**
             * @description The hosts that the token may be sent to, 1 to 50: `api.example.com`, `api.example.com:8443`, `*.example.com` (every name below it). Without a port every port is meant. Left out: any host.
             * @example [
             *       "api.replicate.com"
             *     ]
             */
            allowedHosts?: string[];
            /**
             * Format: date-time
             * @description When the token was stored.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the token was last used in a call, known within about a minute; null if no use is known.
             */
            lastUsedAt: string | null;
        };
        /** @description The token. */
        TokenAnswer: {
            token: components["schemas"]["Token"];
        };
        /** @description A stored credential, and how many tasks wait to use it. */
        TokenDetail: {
            /**
             * @description Use this id in the headers of a task.
             * @example tok_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            id: string;
            /**
             * @description A label, for people; need not be unique.
             * @example Replicate, production
             */
            name: string;
            /**
             * @description The hosts that the token may be sent to, 1 to 50: `api.example.com`, `api.example.com:8443`, `*.example.com` (every name below it). Without a port every port is meant. Left out: any host.
             * @example [
             *       "api.replicate.com"
             *     ]
             */
            allowedHosts?: string[];
            /**
             * Format: date-time
             * @description When the token was stored.
             * @example 2026-03-01T09:30:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the token was last used in a call, known within about a minute; null if no use is known.
             */
            lastUsedAt: string | null;
            /** @description Open tasks that name the token in a header: pending, active, waiting or polling. After a revocation, each of them fails at its next call. For a sandbox token these are sandbox tasks. */
            openTasks: {
                /**
                 * @description The number of tasks found.
                 * @example 12
                 */
                count: number;
                /**
                 * @description More than the 10,000 scanned open tasks exist: `count` is a lower bound.
                 * @example false
                 */
                isCapped: boolean;
            };
        };
        /** @description The token. */
        TokenDetailAnswer: {
            token: components["schemas"]["TokenDetail"];
        };
        /** @description The active tokens of the team, newest first. */
        TokenList: {
            tokens: components["schemas"]["Token"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description A form, url-encoded. What is not known is left aside. */
        TokenRequest: {
            /**
             * @description The grant that is exchanged for a token.
             * @enum {string}
             */
            grant_type: "authorization_code" | "refresh_token" | "client_credentials";
            /** @description With `authorization_code`: the code, within 60 s, once. */
            code?: string;
            /** @description With `authorization_code`: the one of the authorization request. */
            redirect_uri?: string;
            /** @description With `authorization_code`: what the challenge was made of (RFC 7636). */
            code_verifier?: string;
            /** @description With `refresh_token`: the newest one; each works once. */
            refresh_token?: string;
            /**
             * @description Scopes, separated by spaces. Left out: all of the application, or those granted before.
             * @example tasks:read tasks:write
             */
            scope?: string;
            /**
             * @description The application, unless it is in the `Authorization` header.
             * @example app_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            client_id?: string;
            /**
             * @description Its secret, unless it is in the `Authorization` header.
             * @example bhs_3f9a…
             */
            client_secret?: string;
        };
        /**
         * @description Fields that are not given stay as they are. `when` and `notify` are replaced as a whole.
         * @example {
         *       "enabled": false
         *     }
         */
        UpdateAlert: {
            /**
             * @description Named in every message.
             * @example Mails fail
             */
            name?: string;
            /**
             * @description The condition.
             * @example {
             *       "kind": "failure_rate",
             *       "queue": "emails",
             *       "threshold": 10,
             *       "within": 300,
             *       "for": 0
             *     }
             */
            when?: {
                /**
                 * @description `failure_rate`: percent of the tasks that ended within the last `within` seconds and failed, if at least 20 ended. `oldest_pending`: seconds since the oldest due task became due. `depth`: due and pending tasks. `breaker_open`: open circuit breakers. `webhook_disabled`: webhooks that Bellhop disabled. `schedule_failing`: firings of one schedule in a row that failed. `storage`: percent of the plan's storage; for the operator's team, of the disk.
                 * @enum {string}
                 */
                kind: "failure_rate" | "oldest_pending" | "depth" | "breaker_open" | "webhook_disabled" | "schedule_failing" | "storage";
                /** @description Only this queue; absent: all queues of the team. Not for every kind. */
                queue?: string | null;
                /** @description The alert fires at this figure or above. Not for `breaker_open` and `webhook_disabled`. */
                threshold?: number | null;
                /** @description Seconds, for `failure_rate`. Default: `300`. */
                within?: number | null;
                /** @description Seconds for which the condition must hold before the alert fires. Default: `0`. */
                for?: number | null;
            };
            /**
             * @description Who is notified: in each entry one of `email`, `url` and `slack_url`.
             * @example [
             *       {
             *         "email": "ada@example.com"
             *       }
             *     ]
             */
            notify?: {
                /** @description The address of a member of the team. */
                email?: string | null;
                /** @description Receives the message as JSON, signed by the rules of Standard Webhooks. */
                url?: string | null;
                /** @description A Slack-compatible URL, which receives `{ text }`. It is encrypted, and shown without its end; the shown form keeps the stored URL in a change. */
                slack_url?: string | null;
            }[];
            /** @description False also sets the state to `ok`. */
            enabled?: boolean;
        };
        /**
         * @description The settings to change.
         * @example {
         *       "concurrency": 20,
         *       "timeout": 60
         *     }
         */
        UpdateQueue: {
            /** @description Tasks of this queue that may execute at the same time, across all nodes. Default: `5`. */
            concurrency?: number;
            /** @description Retries after a failed first attempt. Default: `3`. */
            max_retries?: number;
            /**
             * @description Delay between attempts: always `retry_delay`, or doubling from it up to an hour. Default: `exponential`.
             * @enum {string}
             */
            retry_backoff?: "fixed" | "exponential";
            /** @description Seconds before the first retry. Default: `1`. */
            retry_delay?: number;
            /** @description Maximum delay between two attempts in seconds. Default: `3600`. */
            retry_max_delay?: number;
            /**
             * @description Answers that end a task at once, `failure_reason: "not_retryable"`. None unless it is said.
             * @example [
             *       400,
             *       404,
             *       410
             *     ]
             */
            no_retry_statuses?: number[];
            /** @description Seconds a call may take, from connecting to the last byte of the answer. Default: `30`. */
            timeout?: number;
            /** @description Strict order: tasks start in the order of creation, one at a time, each when the one before has ended. `concurrency` is 1, and priorities are ignored. Default: `false`. */
            ordered?: boolean;
            /**
             * @description Of an ordered queue: whether its line goes on after a failed task, or stops until that task is retried and completes, or is dismissed. Default: `continue`.
             * @enum {string}
             */
            on_failure?: "continue" | "block";
            /** @description At most so many calls of the queue begin in any `rate_period` seconds, across all nodes; retries count. `false`: no rate. Default: `false`. */
            rate?: number | false;
            /** @description Seconds; 1 unless it is said. Only with `rate`. */
            rate_period?: number;
            /** @description Circuit breaker, for each host that the queue calls: attempts that fail by timeout, network error or 5xx open it, and the tasks of that host then wait without losing an attempt, until one of them as a probe is answered. `true`: with the defaults. Default: `false`. */
            breaker?: boolean | {
                /** @description It opens at so many failed attempts within `within` seconds, Default: `20`. */
                failures?: number;
                /** @description if they are at least this part of all attempts in that time. Default: `0.9`. */
                ratio?: number;
                /** @description Seconds. Default: `60`. */
                within?: number;
                /** @description Seconds until the probe; doubles with every probe that fails, up to 600. Default: `30`. */
                cooldown?: number;
            };
        };
        /**
         * @description What to change of a schedule.
         * @example {
         *       "cron": "0 6 * * *"
         *     }
         */
        UpdateSchedule: {
            /**
             * @description Five fields (minute, hour, day of month, month, day of week), or six with seconds first. If both day fields are set, either one matches.
             * @example 30 9 * * mon-fri
             */
            cron?: string;
            /**
             * @description The body of `POST /v1/tasks`, of either kind, without an exact time, an idempotency key and `dedupe`.
             * @example {
             *       "queue": "default",
             *       "webhook_url": "https://example.com/hooks/report",
             *       "payload": {
             *         "kind": "daily"
             *       }
             *     }
             */
            task?: components["schemas"]["CreateTask"] | components["schemas"]["CreateDirectTask"];
            /**
             * @description An IANA time zone. A time that a clock change skips runs at the first instant after the gap, a time that occurs twice runs only the first time. Default: `UTC`.
             * @example Europe/Berlin
             */
            timezone?: string;
            /**
             * @description `skip`: the schedule does not fire while one of its tasks has not ended. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /**
             * @description Times that passed while no node was up create `one` task together; with `none` they create none if the newest of them is more than 60 s old. Default: `one`.
             * @enum {string}
             */
            catch_up?: "one" | "none";
            /** @description A paused schedule fires only manually. Default: `false`. */
            paused?: boolean;
        };
        /**
         * @description What is not given stays as it is.
         * @example {
         *       "enabled": true
         *     }
         */
        UpdateWebhook: {
            /**
             * @description Where to send events: an absolute http or https URL without credentials, at most 8192 characters.
             * @example https://example.com/hooks/bellhop
             */
            url?: string;
            /**
             * @description The kinds of events.
             * @example [
             *       "task.completed",
             *       "task.failed"
             *     ]
             */
            events?: ("task.created" | "task.replaced" | "task.started" | "task.attempt_failed" | "task.waiting" | "task.polling" | "task.completed" | "task.failed" | "task.cancelled" | "queue.created" | "queue.changed" | "queue.paused" | "queue.resumed" | "queue.deleted" | "target.down" | "target.up")[];
            /**
             * @description Only events of this queue and its tasks; null for all.
             * @example emails
             */
            queue?: string | null;
            /**
             * @description Only events of tasks that have this tag; null for all.
             * @example signup
             */
            tag?: string | null;
            /** @description True also enables a disabled webhook and resets its failure time. */
            enabled?: boolean;
        };
        /** @description A named list of URLs: what is published to it becomes one task for each. */
        UrlGroup: {
            /** @example order-events */
            name: string;
            endpoints: {
                /** @description Names the endpoint within the group. */
                name: string | null;
                url: string;
            }[];
            created_at: string;
            updated_at: string;
        };
        /** @description A URL group. */
        UrlGroupAnswer: {
            url_group: components["schemas"]["UrlGroup"];
        };
        /** @description URL groups, by name. */
        UrlGroupList: {
            url_groups: components["schemas"]["UrlGroup"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /** @description A subscription to events. */
        Webhook: {
            /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description Where to send events: an absolute http or https URL without credentials, at most 8192 characters.
             * @example https://example.com/hooks/bellhop
             */
            url: string;
            /**
             * @description The kinds of events.
             * @example [
             *       "task.completed",
             *       "task.failed"
             *     ]
             */
            events: ("task.created" | "task.replaced" | "task.started" | "task.attempt_failed" | "task.waiting" | "task.polling" | "task.completed" | "task.failed" | "task.cancelled" | "queue.created" | "queue.changed" | "queue.paused" | "queue.resumed" | "queue.deleted" | "target.down" | "target.up")[];
            /** @description Only events of this queue; null for all. */
            queue: string | null;
            /** @description Only events of tasks that have this tag; null for all. */
            tag: string | null;
            /** @description Whether events are sent. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description When Bellhop turned it off, after 5 days without a success; null if it did not.
             */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description When deliveries began to fail; null while they succeed.
             */
            failing_since: string | null;
            /**
             * Format: date-time
             * @description When it was created.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was last changed.
             * @example 2026-03-01T09:30:00.000Z
             */
            updated_at: string;
        };
        /**
         * @description A subscription to events.
         * @example {
         *       "webhook": {
         *         "id": "wh_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *         "url": "https://example.com/hooks/bellhop",
         *         "events": [
         *           "task.completed",
         *           "task.failed"
         *         ],
         *         "queue": "emails",
         *         "tag": null,
         *         "enabled": true,
         *         "disabled_at": null,
         *         "failing_since": null,
         *         "created_at": "2026-03-01T09:30:00.000Z",
         *         "updated_at": "2026-03-01T09:30:00.000Z"
         *       }
         *     }
         */
        WebhookAnswer: {
            webhook: components["schemas"]["Webhook"];
        };
        /** @description One event on its way to a webhook. */
        WebhookDelivery: {
            /** @example whd_01k9z3mxe5f8hrk3yv5pzq8c2d */
            id: string;
            /**
             * @description Sent as `webhook-id`, the same on every try: the id of the first delivery of the message.
             * @example whd_01k9z3mxe5f8hrk3yv5pzq8c2d
             */
            message_id: string;
            /**
             * @description The kind of event.
             * @enum {string}
             */
            event: "task.created" | "task.replaced" | "task.started" | "task.attempt_failed" | "task.waiting" | "task.polling" | "task.completed" | "task.failed" | "task.cancelled" | "queue.created" | "queue.changed" | "queue.paused" | "queue.resumed" | "queue.deleted" | "target.down" | "target.up" | "webhook.test";
            /**
             * @description `pending` until it is delivered or given up.
             * @enum {string}
             */
            status: "pending" | "delivered" | "failed";
            /** @description The number of tries. */
            attempts: number;
            /** @description What the last try was answered; null if nothing. */
            response_code: number | null;
            /** @description Why the last try failed; null if it did not. */
            error: string | null;
            /**
             * Format: date-time
             * @description When it was noticed.
             * @example 2026-03-01T09:30:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When the next try is due; null if there is none.
             */
            next_at: string | null;
        };
        /** @description A message on its way to a webhook. */
        WebhookDeliveryAnswer: {
            delivery: components["schemas"]["WebhookDelivery"];
        };
        /**
         * @description What was sent to a webhook, newest first.
         * @example {
         *       "deliveries": [
         *         {
         *           "id": "whd_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *           "message_id": "whd_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *           "event": "task.completed",
         *           "status": "delivered",
         *           "attempts": 1,
         *           "response_code": 204,
         *           "error": null,
         *           "created_at": "2026-03-01T09:30:00.000Z",
         *           "next_at": null
         *         }
         *       ]
         *     }
         */
        WebhookDeliveryList: {
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
        /**
         * @description The team's subscriptions, newest first.
         * @example {
         *       "webhooks": [
         *         {
         *           "id": "wh_01k9z3mxe5f8hrk3yv5pzq8c2d",
         *           "url": "https://example.com/hooks/bellhop",
         *           "events": [
         *             "task.completed",
         *             "task.failed"
         *           ],
         *           "queue": "emails",
         *           "tag": null,
         *           "enabled": true,
         *           "disabled_at": null,
         *           "failing_since": null,
         *           "created_at": "2026-03-01T09:30:00.000Z",
         *           "updated_at": "2026-03-01T09:30:00.000Z"
         *         }
         *       ]
         *     }
         */
        WebhookList: {
            webhooks: components["schemas"]["Webhook"][];
            /** @description Absent if the list is complete and no page was requested. */
            pagination?: {
                limit: number;
                hasMore: boolean;
                /** @description `cursor` of the next page; null on the last. */
                nextCursor: string | null;
            };
        };
    };
    responses: {
        /** @description With the code `body_not_json` or `body_not_object` or `body_bounds` or `body_not_decoded` or `url_malformed` or `request_malformed` or `invalid` or `cursor_foreign` or `batch_refused` or `vault_token_unknown` or `provider_unknown` or `vault_token_inside` or `vault_token_host`. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `idempotency_conflict` or `dedupe_conflict` or `callback_not_awaited` or `task_ended` or `task_not_retryable` or `task_queue_gone` or `task_not_failed` or `task_not_ended` or `notification_unset` or `notification_pending` or `task_not_pending` or `bulk_ended` or `bulks_full` or `queue_exists` or `queue_default_kept` or `schedule_exists` or `webhook_off` or `delivery_pending` or `webhooks_full` or `alerts_full` or `team_limit` or `member_exists` or `last_owner` or `api_keys_full` or `applications_full`. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `body_too_large` or `list_too_large`. */
        ContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `scope_missing` or `role_missing` or `test_key_refused` or `live_refused` or `session_required` or `session_bound` or `form_foreign` or `limit_reached`. */
        Forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `headers_too_large`. */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `not_found` or `callback_unknown` or `task_not_found` or `bulk_not_found` or `queue_not_found` or `schedule_not_found` or `message_not_found` or `url_group_not_found` or `webhook_not_found` or `delivery_not_found` or `alert_not_found` or `breaker_not_found` or `flow_not_found` or `session_not_found` or `team_not_found` or `member_not_found` or `invitation_not_found` or `api_key_not_found` or `application_not_found` or `authorization_not_found` or `vault_token_not_found`. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A refusal in the words of RFC 6749. */
        OAuthBadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description A refusal in the words of RFC 6749. */
        OAuthContentTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description A refusal in the words of RFC 6749. */
        OAuthTooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description A refusal in the words of RFC 6749. */
        OAuthUnauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description A refusal in the words of RFC 6749. */
        OAuthUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description A refusal in the words of RFC 6749. */
        OAuthUnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["OAuthError"];
            };
        };
        /** @description With the code `bodies_waiting` or `rate_limited` or `test_mails_limited` or `too_many_waiting` or `too_many_streams` or `streams_full` or `too_many_scans` or `flow_backlog_full` or `flows_full` or `tasks_full`. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `api_key_required` or `api_key_invalid` or `token_invalid` or `metrics_token_unset` or `metrics_token_invalid`. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `body_not_read` or `overloaded` or `crowded` or `database_away` or `space_low` or `stopping` or `vault_off`. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description With the code `body_not_typed` or `body_coding_unknown`. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Names the request, in the server's log too. The caller's own, if it sent a sane one. */
        "X-Request-Id": string;
        /** @description Requests a minute that the team may make. Left out where there is no limit. */
        "X-RateLimit-Limit": number;
        /** @description How many are left now. */
        "X-RateLimit-Remaining": number;
        /** @description Unix time in seconds at which the oldest counted request is a minute old. */
        "X-RateLimit-Reset": number;
        /** @description Seconds after which it makes sense to come back. */
        "Retry-After": number;
        /** @description How to prove who is calling. */
        "WWW-Authenticate": string;
        /** @description `true`: an earlier request with this key created the task. */
        "Idempotent-Replayed": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getLiveness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process answers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example ok */
                        status: string;
                    };
                };
            };
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it needs, part by part. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description What it needs, part by part. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it needs, part by part. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description What it needs, part by part. */
            503: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Retry-After": components["headers"]["Retry-After"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
        };
    };
    authorize: {
        parameters: {
            query?: {
                /**
                 * @description `code`.
                 * @example code
                 */
                response_type?: string;
                /**
                 * @description The application.
                 * @example app_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                client_id?: string;
                /** @description One of the registered ones, letter by letter. */
                redirect_uri?: string;
                /**
                 * @description Scopes, separated by spaces. Left out: all of the application.
                 * @example tasks:read
                 */
                scope?: string;
                /** @description Comes back unchanged. */
                state?: string;
                /** @description SHA-256 of the verifier in base64url (RFC 7636). */
                code_challenge?: string;
                /**
                 * @description `S256`.
                 * @example S256
                 */
                code_challenge_method?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The question. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Back to the application, with `error`, `error_description`, `state` and `iss`. */
            302: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description To the sign-in, and from there back to this page. */
            303: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Unknown application or redirect URI: nobody is sent anywhere. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
        };
    };
    issueAccessToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["TokenRequest"];
            };
        };
        responses: {
            /** @description An access token (RFC 6749, 5.1). */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessToken"];
                };
            };
            /** @description `invalid_request` · `invalid_grant` · `invalid_scope` · `unauthorized_client` · `unsupported_grant_type` */
            400: components["responses"]["OAuthBadRequest"];
            /** @description `invalid_client`: the application did not prove itself */
            401: components["responses"]["OAuthUnauthorized"];
            /** @description `invalid_request`: the form has more than 16 KiB */
            413: components["responses"]["OAuthContentTooLarge"];
            /** @description `invalid_request`: the body is no form */
            415: components["responses"]["OAuthUnsupportedMediaType"];
            /** @description `temporarily_unavailable`: too many requests, or too many wrong secrets from one source */
            429: components["responses"]["OAuthTooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `temporarily_unavailable`: try again shortly */
            503: components["responses"]["OAuthUnavailable"];
        };
    };
    revokeAccessToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-www-form-urlencoded": components["schemas"]["RevocationRequest"];
            };
        };
        responses: {
            /** @description The token does not count any more, or never did. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedAccess"];
                };
            };
            /** @description `invalid_request`: a parameter is missing, wrong or repeated */
            400: components["responses"]["OAuthBadRequest"];
            /** @description `invalid_client`: the application did not prove itself */
            401: components["responses"]["OAuthUnauthorized"];
            /** @description `invalid_request`: the form has more than 16 KiB */
            413: components["responses"]["OAuthContentTooLarge"];
            /** @description `invalid_request`: the body is no form */
            415: components["responses"]["OAuthUnsupportedMediaType"];
            /** @description `temporarily_unavailable`: too many requests, or too many wrong secrets from one source */
            429: components["responses"]["OAuthTooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `temporarily_unavailable`: try again shortly */
            503: components["responses"]["OAuthUnavailable"];
        };
    };
    getAuthorizationServer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What an OAuth client needs to know (RFC 8414). */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationServer"];
                };
            };
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
        };
    };
    listProviders: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The catalog of providers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProviderList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    requestMagicLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RequestMagicLink"];
            };
        };
        responses: {
            /** @description The same for every address, known or not. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MagicLinkSent"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once · `database_away`: The database cannot be reached, try again shortly */
            503: components["responses"]["Unavailable"];
        };
    };
    openSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenSession"];
            };
        };
        responses: {
            /** @description A new session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once · `database_away`: The database cannot be reached, try again shortly */
            503: components["responses"]["Unavailable"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is over. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedSession"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    resolveCallback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description 64 hexadecimal digits, as they were issued when the task was created.
                 * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
                 */
                callbackId: string;
            };
            cookie?: never;
        };
        /** @description Any JSON value: object, array, string, number, boolean or null. */
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The task that the callback ended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedTask"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `callback_unknown`: Invalid or expired callback ID */
            404: components["responses"]["NotFound"];
            /** @description `callback_not_awaited`: Task is not in waiting/polling state (current: <status>) */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once · `database_away`: The database cannot be reached, try again shortly */
            503: components["responses"]["Unavailable"];
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /** @description Only tasks of this queue. */
                queue?: string;
                /**
                 * @description Only tasks in this state, or in one of several, separated by commas.
                 * @example failed,cancelled
                 */
                status?: string;
                /** @description Only tasks that have this tag; repeated: all of these tags. */
                tag?: string | string[];
                /**
                 * @description Only tasks created then or later.
                 * @example 2026-03-01T09:30:00Z
                 */
                created_after?: string;
                /**
                 * @description Only tasks created earlier than then.
                 * @example 2026-03-01T10:00:00Z
                 */
                created_before?: string;
                /**
                 * @description Only calls to this host, named as in the URL, without its port.
                 * @example api.example.com
                 */
                host?: string;
                /** @description Only tasks that name this provider. */
                provider?: string;
                /** @description Only tasks that this schedule has created, by its id. */
                schedule?: string;
                /** @description Only tasks that failed for this reason. */
                failure_reason?: "retries_exhausted" | "worker_lost" | "queue_deleted" | "poll_failed" | "poll_timeout" | "callback_timeout" | "token_revoked" | "blocked" | "not_retryable" | "expired";
                /** @description Only tasks whose last finished attempt was answered with this status code or class (`503`, `5xx`), or not in time (`timeout`), or broke off on the network (`network`). */
                response_code?: string;
                /**
                 * @description Only tasks whose whole `error` fits this pattern, whatever its case; `*` stands for any text.
                 * @example *card declined*
                 */
                error?: string;
                /**
                 * @description Only tasks with this entry in their metadata: its key, `=` and its value. Several entries, which must all be there, are written as `metadata.<name>=<value>`.
                 * @example order=4711
                 */
                metadata?: string;
                /** @description `true`: only failed tasks that were dismissed. `false`: only tasks that were not. */
                dismissed?: "true" | "false";
                /** @description Only this task, by either spelling of its id. */
                id?: string;
                /** @description `true` shows the sandbox, otherwise live tasks. Test keys always see only the sandbox. */
                sandbox?: "true" | "false";
                /** @description `asc`: the oldest first. */
                order?: "desc" | "asc";
                /** @description Tasks on a page. */
                limit?: number;
                /** @description Tasks to skip, at most 10000. For deep lists use `cursor`, which costs the same on every page. */
                offset?: number;
                /** @description `nextCursor` of the page before, with the same filters and order; instead of `offset`, never both. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page of tasks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `cursor_foreign`: Cursor belongs to another search */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createTask: {
        parameters: {
            query?: {
                /** @description Answer when the task has ended, or after this many seconds, with the whole record at that time. */
                wait?: number;
            };
            header?: {
                /** @description The same as `idempotency_key` or `idempotencyKey` in the body. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTask"] | components["schemas"]["CreateDirectTask"];
            };
        };
        responses: {
            /** @description The task that an earlier request with the same idempotency key created, with `Idempotent-Replayed: true`; or the record of the task that an earlier request with the same deduplication key created, with `deduplicated: true` or `replaced: true`. With `wait`, what `GET /v1/tasks/{task_id}` answers, and the callback. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTask"] | components["schemas"]["CreatedDirectTask"];
                };
            };
            /** @description The task as it was accepted. With `wait`, what `GET /v1/tasks/{task_id}` answers, and the callback. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTask"] | components["schemas"]["CreatedDirectTask"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `vault_token_unknown`: Header "<header>" references unknown vault token "<token>" · `vault_token_inside`: Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole value of the header in the vault, and give nothing but the token's id · `vault_token_host`: Header "<header>" references vault token "<token>", which may not be sent to "<host>" · `provider_unknown`: Unknown provider "<id>" · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `idempotency_conflict`: Idempotency key "<key>" was used with another request · `dedupe_conflict`: Dedupe key "<key>" is taken by a task with another <what>: <value> */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `tasks_full`: The plan <plan> allows at most <most> tasks that have not ended (tasksOpen) · `flows_full`: The plan <plan> allows at most <most> flows with open tasks (flowsOpen) · `too_many_waiting`: Too many requests are waiting for tasks to end · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `space_low`: The server's disk is nearly full, new tasks are not accepted: try again later · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getTask: {
        parameters: {
            query?: {
                /** @description Answer when the task has ended, or after this many seconds, with the whole record at that time. */
                wait?: number;
            };
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record of the task. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"] | components["schemas"]["DirectTaskAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_waiting`: Too many requests are waiting for tasks to end */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task is gone and will not be called. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedTask"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `task_not_pending`: Task is not pending (current: <status>) */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record of the task. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"] | components["schemas"]["DirectTaskAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `task_ended`: Task has already ended (current: <status>) */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    retryTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryTask"];
            };
        };
        responses: {
            /** @description The record of the task. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"] | components["schemas"]["DirectTaskAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `vault_token_unknown`: Header "<header>" references unknown vault token "<token>" · `vault_token_inside`: Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole value of the header in the vault, and give nothing but the token's id · `vault_token_host`: Header "<header>" references vault token "<token>", which may not be sent to "<host>" · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `task_not_retryable`: Task is not in failed/cancelled state (current: <status>) · `task_queue_gone`: Task cannot be retried: its queue "<name>" was deleted */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `tasks_full`: The plan <plan> allows at most <most> tasks that have not ended (tasksOpen) · `flows_full`: The plan <plan> allows at most <most> flows with open tasks (flowsOpen) · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    dismissTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record of the task. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"] | components["schemas"]["DirectTaskAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `task_not_failed`: Task is not in failed state (current: <status>) */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    resendTaskNotification: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The record of the task. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"] | components["schemas"]["DirectTaskAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `task_not_ended`: Task has not ended (current: <status>) · `notification_unset`: Task has no <field>: there is no notification to send again · `notification_pending`: Notification is still being delivered (next try: <time>) */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    explainTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `task_…`, or the UUID that it encodes: both are accepted for every task.
                 * @example task_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                task_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Why a task runs, or does not. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `task_not_found`: Task not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createTasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTasks"];
            };
        };
        responses: {
            /** @description What became of a batch. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `batch_refused`: tasks[<index>]: <reason> · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    listAlerts: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The team's alerts, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createAlert: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAlert"];
            };
        };
        responses: {
            /** @description An alert. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `alerts_full`: A team can have at most <limit> alerts: delete one first */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example alr_01k9z3mxe5f8hrk3yv5pzq8c2d */
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An alert. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `alert_not_found`: Alert not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example alr_01k9z3mxe5f8hrk3yv5pzq8c2d */
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The deleted alert. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedAlert"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `alert_not_found`: Alert not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    updateAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example alr_01k9z3mxe5f8hrk3yv5pzq8c2d */
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAlert"];
            };
        };
        responses: {
            /** @description An alert. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `alert_not_found`: Alert not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    testAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example alr_01k9z3mxe5f8hrk3yv5pzq8c2d */
                alert_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An alert. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AlertAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `alert_not_found`: Alert not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded · `test_mails_limited`: A member receives at most <most> test mails of alerts in <minutes> minutes */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listBreakers: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The open breakers of the team, by queue and host. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BreakerList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    closeBreaker: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example api.example.com */
                host: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CloseBreaker"];
            };
        };
        responses: {
            /** @description The queues whose breaker was open and is closed now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClosedBreakers"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `breaker_not_found`: No circuit breaker for "<host>" is open · `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    listBulks: {
        parameters: {
            query?: {
                /** @description Actions on a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The team's bulk actions, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createBulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBulk"];
            };
        };
        responses: {
            /** @description What a bulk action would be about. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatchedTasks"];
                };
            };
            /** @description An action on many tasks. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `bulks_full`: A team can have at most <limit> bulk actions running: wait, or stop one first */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getBulk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example bulk_01k9z3mxe5f8hrk3yv5pzq8c2d */
                bulk_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An action on many tasks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `bulk_not_found`: Bulk action not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    stopBulk: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example bulk_01k9z3mxe5f8hrk3yv5pzq8c2d */
                bulk_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description An action on many tasks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `bulk_not_found`: Bulk action not found */
            404: components["responses"]["NotFound"];
            /** @description `bulk_ended`: Bulk action has already ended (current: <status>) */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listFlows: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
                /** @description Only keys that contain this text. */
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Flows, the busiest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    getFlow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example customer-42 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A flow. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `flow_not_found`: Flow "<key>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    putFlow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example customer-42 */
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutFlow"];
            };
        };
        responses: {
            /** @description A flow. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowAnswer"];
                };
            };
            /** @description A flow. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteFlow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example customer-42 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was stored for the key is removed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedFlow"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `flow_not_found`: Flow "<key>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    pauseFlow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example customer-42 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A flow. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `flow_not_found`: Flow "<key>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    resumeFlow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example customer-42 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A flow. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `flow_not_found`: Flow "<key>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    resetFlow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example customer-42 */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A flow. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FlowAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `flow_not_found`: Flow "<key>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Schedules by name. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSchedule"];
            };
        };
        responses: {
            /** @description A schedule. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `vault_token_unknown`: Header "<header>" references unknown vault token "<token>" · `vault_token_inside`: Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole value of the header in the vault, and give nothing but the token's id · `vault_token_host`: Header "<header>" references vault token "<token>", which may not be sent to "<host>" · `provider_unknown`: Unknown provider "<id>" · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `schedule_exists`: Schedule "<name>" already exists */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    putSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutSchedule"];
            };
        };
        responses: {
            /** @description A schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description A schedule. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `vault_token_unknown`: Header "<header>" references unknown vault token "<token>" · `vault_token_inside`: Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole value of the header in the vault, and give nothing but the token's id · `vault_token_host`: Header "<header>" references vault token "<token>", which may not be sent to "<host>" · `provider_unknown`: Unknown provider "<id>" · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found · `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule is gone; its tasks are not. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSchedule"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    updateSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSchedule"];
            };
        };
        responses: {
            /** @description A schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `vault_token_unknown`: Header "<header>" references unknown vault token "<token>" · `vault_token_inside`: Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole value of the header in the vault, and give nothing but the token's id · `vault_token_host`: Header "<header>" references vault token "<token>", which may not be sent to "<host>" · `provider_unknown`: Unknown provider "<id>" · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found · `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    pauseSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    resumeSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    runSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Its id or its name.
                 * @example nightly-report
                 */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task as it was accepted. With `wait`, what `GET /v1/tasks/{task_id}` answers, and the callback. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTask"] | components["schemas"]["CreatedDirectTask"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `vault_token_unknown`: Header "<header>" references unknown vault token "<token>" · `vault_token_inside`: Header "<header>" has vault token "<token>" inside of other text, which would be sent as it is: store the whole value of the header in the vault, and give nothing but the token's id · `vault_token_host`: Header "<header>" references vault token "<token>", which may not be sent to "<host>" · `provider_unknown`: Unknown provider "<id>" */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `schedule_not_found`: Schedule "<name>" not found · `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured */
            503: components["responses"]["Unavailable"];
        };
    };
    getSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sandbox of the team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sandbox"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `live_refused`: Only available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    advanceSandbox: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdvanceSandbox"];
            };
        };
        responses: {
            /** @description How much time has passed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SandboxAdvanced"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `live_refused`: Only available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    listUrlGroups: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description URL groups, by name. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlGroupList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    getUrlGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example order-events */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A URL group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlGroupAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `url_group_not_found`: URL group "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    putUrlGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example order-events */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutUrlGroup"];
            };
        };
        responses: {
            /** @description A URL group. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlGroupAnswer"];
                };
            };
            /** @description A URL group. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UrlGroupAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteUrlGroup: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example order-events */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The group no longer exists. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedUrlGroup"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `url_group_not_found`: URL group "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `url_group_used`: URL group "<name>" is used by a schedule: delete the schedule first */
            412: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    getQueueStats: {
        parameters: {
            query: {
                /** @description The time range. */
                range: "15m" | "1h" | "6h" | "24h" | "7d" | "30d";
                /** @description Only this queue. */
                queue?: string;
                /** @description `true` shows the sandbox, otherwise live tasks. Test keys always see only the sandbox. */
                sandbox?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What happened in the queues of the team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueStatistics"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    getFailureStats: {
        parameters: {
            query: {
                /** @description The time range. */
                range: "15m" | "1h" | "6h" | "24h" | "7d" | "30d";
                /** @description `true` shows the sandbox, otherwise live tasks. Test keys always see only the sandbox. */
                sandbox?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Groups of failed tasks, the largest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailureList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The team's subscriptions, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhook"];
            };
        };
        responses: {
            /** @description A subscription to events. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `webhooks_full`: A team can have at most <limit> webhooks: delete one first */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A subscription to events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `webhook_not_found`: Webhook not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subscription that is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedWebhook"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `webhook_not_found`: Webhook not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhook"];
            };
        };
        responses: {
            /** @description A subscription to events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `webhook_not_found`: Webhook not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was sent to a webhook, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `webhook_not_found`: Webhook not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A message on its way to a webhook. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `webhook_not_found`: Webhook not found */
            404: components["responses"]["NotFound"];
            /** @description `webhook_off`: Webhook is turned off: enable it first */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    redeliverWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example wh_01k9z3mxe5f8hrk3yv5pzq8c2d */
                webhook_id: string;
                /** @example whd_01k9z3mxe5f8hrk3yv5pzq8c2d */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A message on its way to a webhook. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `webhook_not_found`: Webhook not found · `delivery_not_found`: Delivery not found */
            404: components["responses"]["NotFound"];
            /** @description `webhook_off`: Webhook is turned off: enable it first · `delivery_pending`: Delivery is still under way */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only events of this queue and its tasks. */
                queue?: string;
                /** @description Only events of tasks that have this tag. */
                tag?: string;
                /**
                 * @description Only events of these kinds, separated by commas.
                 * @example task.completed,task.failed
                 */
                types?: string;
            };
            header?: {
                /** @description The last `id` that was read: the stream continues after it. Browsers send it automatically. */
                "last-event-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, each of one of these kinds: `task.created`, `task.replaced`, `task.started`, `task.attempt_failed`, `task.waiting`, `task.polling`, `task.completed`, `task.failed`, `task.cancelled`, `queue.created`, `queue.changed`, `queue.paused`, `queue.resumed`, `queue.deleted`, `target.down`, `target.up`; or `ready` or `reset`. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded · `streams_full`: The plan <plan> allows at most <most> open event streams on a node (eventStreams): close one first · `too_many_streams`: Too many event streams are open */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listQueues: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
                /** @description `true` shows the sandbox, otherwise live tasks. Test keys always see only the sandbox. */
                sandbox?: "true" | "false";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All queues of the team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createQueue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateQueue"];
            };
        };
        responses: {
            /** @description A queue and its settings. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `queue_exists`: Queue "<name>" already exists */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example emails */
                queue_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A queue, its settings and its counters. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueWithStats"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example emails */
                queue_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queue is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedQueue"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `queue_default_kept`: Queue "default" cannot be deleted */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    updateQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example emails */
                queue_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateQueue"];
            };
        };
        responses: {
            /** @description A queue and its settings. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    pauseQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example emails */
                queue_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A queue and its settings. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    resumeQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example emails */
                queue_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A queue and its settings. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `queue_not_found`: Queue "<name>" not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The active tokens of the team, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured */
            503: components["responses"]["Unavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateToken"];
            };
        };
        responses: {
            /** @description The token. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Use this id in the headers of a task.
                 * @example tok_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenDetailAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `vault_token_not_found`: Token not found or already revoked */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded · `too_many_scans`: Too many searches of the team wait for their turn: try again later */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured */
            503: components["responses"]["Unavailable"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Use this id in the headers of a task.
                 * @example tok_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The token is revoked and its value is gone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedToken"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `vault_token_not_found`: Token not found or already revoked */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `vault_off`: Token vault is not configured */
            503: components["responses"]["Unavailable"];
        };
    };
    getSigningSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What signs the calls of the team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecretAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    rotateSigningSecret: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What signs the calls of the team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SigningSecretAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sessions of the person, the newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    endOneSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifies the session. It is not a credential.
                 * @example ses_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is over. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedOneSession"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link */
            403: components["responses"]["Forbidden"];
            /** @description `session_not_found`: Session not found or already ended */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    switchTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SwitchTeam"];
            };
        };
        responses: {
            /** @description A new session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link · `session_bound`: This session was opened by an invitation: sign in by magic link to go to another team */
            403: components["responses"]["Forbidden"];
            /** @description `team_not_found`: Team not found */
            404: components["responses"]["NotFound"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whom the credential speaks for, and what it may do. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listTeams: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The teams of the person, the one joined first at the top. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NameTeam"];
            };
        };
        responses: {
            /** @description The new team. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedTeam"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link · `session_bound`: This session was opened by an invitation: sign in by magic link to go to another team */
            403: components["responses"]["Forbidden"];
            /** @description `team_limit`: A person can own at most <most> teams on the free plan */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    getTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    renameTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NameTeam"];
            };
        };
        responses: {
            /** @description The team. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TeamAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    listMembers: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The members of the team, who joined first at the top. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    removeMember: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifies the person, in every team.
                 * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person is no member any more. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedMember"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `member_not_found`: Member not found */
            404: components["responses"]["NotFound"];
            /** @description `last_owner`: The last owner cannot leave the team */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    changeMemberRole: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifies the person, in every team.
                 * @example user_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChangeRole"];
            };
        };
        responses: {
            /** @description The member. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `member_not_found`: Member not found */
            404: components["responses"]["NotFound"];
            /** @description `last_owner`: The last owner cannot leave the team */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    leaveTeam: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person is no member any more. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemovedMember"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `session_required`: Session required: sign in by magic link */
            403: components["responses"]["Forbidden"];
            /** @description `member_not_found`: Member not found */
            404: components["responses"]["NotFound"];
            /** @description `last_owner`: The last owner cannot leave the team */
            409: components["responses"]["Conflict"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listInvitations: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The open invitations of the team, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvitation"];
            };
        };
        responses: {
            /** @description The invitation. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationAnswer"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `member_exists`: <email> is a member already */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    revokeInvitation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifies the invitation.
                 * @example inv_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                invitation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link no longer works. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedInvitation"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `invitation_not_found`: Invitation not found or already used */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The active keys of the team, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApiKey"];
            };
        };
        responses: {
            /** @description The new key. It is shown here and nowhere else. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `api_keys_full`: A team can have at most <limit> active API keys: revoke one first */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example key_01k9z3mxe5f8hrk3yv5pzq8c2d */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is refused from now on. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokedApiKey"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `api_key_not_found`: API key not found or already revoked */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listAuditEvents: {
        parameters: {
            query?: {
                /** @description Only this action, exactly. */
                action?: string;
                /** @description Events on a page. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the audit log, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    getSystem: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The nodes and their database. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemState"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `not_found`: Not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listApplications: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The applications of the team, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApplicationList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    createApplication: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateApplication"];
            };
        };
        responses: {
            /** @description The application with its secret, which is shown here and nowhere else. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MintedApplication"];
                };
            };
            /** @description `invalid`: a field breaks its rule · `body_not_json`: Request body is not valid JSON · `body_not_object`: Request body must be a JSON object · `body_bounds`: Request body <reason> · `body_not_decoded`: Request body is not valid <coding> */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys · `limit_reached`: The plan <plan> allows at most <most> <unit> (<name>) */
            403: components["responses"]["Forbidden"];
            /** @description `applications_full`: A team can have at most <limit> applications: delete one first */
            409: components["responses"]["Conflict"];
            /** @description `body_too_large`: Request body too large */
            413: components["responses"]["ContentTooLarge"];
            /** @description `body_not_typed`: Content-Type must be application/json · `body_coding_unknown`: Content-Encoding must be gzip, deflate or br */
            415: components["responses"]["UnsupportedMediaType"];
            /** @description `rate_limited`: Rate limit exceeded · `bodies_waiting`: Too many large request bodies are waiting to be read */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping · `body_not_read`: Request body took too long to be read: send less at once */
            503: components["responses"]["Unavailable"];
        };
    };
    deleteApplication: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example app_01k9z3mxe5f8hrk3yv5pzq8c2d */
                clientId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application is gone, and its tokens are refused from now on. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedApplication"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `application_not_found`: Application not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    rotateApplicationSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @example app_01k9z3mxe5f8hrk3yv5pzq8c2d */
                clientId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application with its secret, which is shown here and nowhere else. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MintedApplication"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `application_not_found`: Application not found */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    listAuthorizations: {
        parameters: {
            query?: {
                /** @description Entries on a page; it has fewer if they would make more than 1 MiB. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What applications have been allowed and may still do, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorizationList"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    endAuthorization: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Identifies one consent of a person, with all its tokens.
                 * @example auth_01k9z3mxe5f8hrk3yv5pzq8c2d
                 */
                authorization_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The application may do nothing of it any more. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EndedAuthorization"];
                };
            };
            /** @description `invalid`: a field breaks its rule */
            400: components["responses"]["BadRequest"];
            /** @description `api_key_required`: API key required · `api_key_invalid`: Invalid or revoked API key · `token_invalid`: Invalid or expired token */
            401: components["responses"]["Unauthorized"];
            /** @description `scope_missing`: Insufficient scope: <scope> required · `role_missing`: Insufficient role: <role> required · `test_key_refused`: Not available to test keys */
            403: components["responses"]["Forbidden"];
            /** @description `authorization_not_found`: Authorization not found or already ended */
            404: components["responses"]["NotFound"];
            /** @description `rate_limited`: Rate limit exceeded */
            429: components["responses"]["TooManyRequests"];
            /** @description `headers_too_large`: Request headers too large */
            431: components["responses"]["HeadersTooLarge"];
            /** @description `database_away`: The database cannot be reached, try again shortly · `overloaded`: Too many requests are waiting to be stored, try again shortly · `stopping`: The server is stopping */
            503: components["responses"]["Unavailable"];
        };
    };
    taskEnded: {
        parameters: {
            query?: never;
            header: {
                /** @description Names the notification, the same on every try. */
                "webhook-id": string;
                /** @description Unix time in seconds of this try. */
                "webhook-timestamp": string;
                /** @description One or, during a rotation, two signatures, parted by a space. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskNotification"];
            };
        };
        responses: {
            /** @description Received; not sent again. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Sent again later, as after any other answer. */
            "4XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
