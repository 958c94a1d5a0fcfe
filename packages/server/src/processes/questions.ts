/** Open requests to another process, by number. */
export interface Questions<Answer> {
  /** Null without an answer in time. */
  ask(send: (id: number) => void): Promise<Answer | null>;
  answer(id: number, answer: Answer): void;
}

export function createQuestions<Answer>(patienceMs: number): Questions<Answer> {
  const open = new Map<number, (answer: Answer) => void>();
  let last = 0;
  return {
    ask(send) {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        const timer = setTimeout(() => settle(null), patienceMs);
        function settle(answer: Answer | null): void {
          clearTimeout(timer);
          open.delete(id);
          resolve(answer);
        }
        open.set(id, settle);
        send(id);
      });
    },
    answer: (id, answer) => open.get(id)?.(answer),
  };
}
