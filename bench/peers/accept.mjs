import { createGroupFlush } from "../../.build/bench/skeleton/group-flush.js";

const maxGroup = 300;

/**
 * How a request becomes a job: by one call of the peer's own for each request, as its documentation shows it. With
 * PEER_GROUPED (`npm run bench -- --grouped`) by its call for many jobs, behind the group commit of the skeleton: what
 * arrives while one group is being stored forms the next. No peer comes with that; it is what a user could build.
 */
export function acceptBy({ one, group }) {
  if (process.env.PEER_GROUPED !== "yes") {
    return (submission, answer) => {
      one(submission).then(answer, (error) => {
        console.error(error);
        answer(null);
      });
    };
  }
  const flush = createGroupFlush(async (waiting) => {
    let ids = [];
    try {
      ids = await group(waiting.map(({ submission }) => submission));
    } catch (error) {
      console.error(error);
    }
    for (const [index, { answer }] of waiting.entries()) answer(ids[index] ?? null);
  }, maxGroup);
  return (submission, answer) => flush({ submission, answer });
}
