import { useMutation, useQueryClient } from "@tanstack/react-query";
import { tell, tellProblem } from "../parts/toast.tsx";

/** A change made by the reader: says what was done or what went wrong, and looks again at everything. */
export function useAct<Input, Answer>(
  change: (input: Input) => Promise<Answer>,
  done?: (
    answer: Answer,
    input: Input,
  ) => string | { readonly text: string; readonly undo: () => void } | null,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (answer, input) => {
      const said = done?.(answer, input) ?? null;
      if (typeof said === "string") tell(said);
      else if (said !== null) tell(said.text, said.undo);
      // Not awaited: a dialog closes when its action is done, not when everything has been read again.
      void queries.invalidateQueries();
    },
    onError: tellProblem,
  });
}
