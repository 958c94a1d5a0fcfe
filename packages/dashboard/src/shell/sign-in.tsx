import { Button, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import bell from "../bell.svg";
import { bellhop } from "../data/client.ts";
import { keepWanted, type SignInWays } from "../data/session.ts";
import { holding } from "../parts/form-dialog.tsx";
import { Problem } from "../parts/page.tsx";

/** For those who are not signed in: the address of a mail, and where its link will be found. */
export function SignIn({ ways }: { readonly ways: SignInWays }) {
  const [email, setEmail] = useState("");
  const [state, setState] = useState<"asking" | "sending" | "sent">("asking");
  const [error, setError] = useState<unknown>(null);

  useEffect(keepWanted, []);
  const send = async () => {
    setState("sending");
    setError(null);
    try {
      await bellhop.auth.requestMagicLink({ email });
      setState("sent");
    } catch (reason) {
      setError(reason);
      setState("asking");
    }
  };

  return (
    <main className="sign-in">
      <div className="panel">
        <form
          className="panel-body form"
          onSubmit={(event) => {
            event.preventDefault();
            void send();
          }}
        >
          <div className="brand" style={{ padding: 0 }}>
            <img src={bell} alt="" />
            Bellhop
          </div>
          <h1>{state === "sent" ? "Check your mail" : "Sign in"}</h1>
          {ways.hadSession && state !== "sent" ? (
            <p role="status">
              Your session has ended: it expired, or somebody signed it out. Nothing is lost: the link leads
              back to the page that you were on.
            </p>
          ) : null}
          {state === "sent" ? (
            <p>
              If <strong className="wrap">{email}</strong> may sign in here, it gets a mail with a link. The
              link works once.
            </p>
          ) : (
            <TextInput
              label="Your mail address"
              type="email"
              autoComplete="email"
              required
              size="sm"
              {...holding(email, setEmail)}
            />
          )}
          {ways.linkInLog ? (
            <p className="small muted">
              This server has no mail server: it writes the link to its log. Check the terminal that{" "}
              <code>npm start</code> runs in, or run{" "}
              <code>bellhop session link {email || "you@example.com"}</code>.
            </p>
          ) : null}
          {ways.mail || ways.linkInLog ? null : (
            <p className="small muted">
              This server sends no mail. Its operator can create a link for you:{" "}
              <code>bellhop session link {email || "you@example.com"}</code>.
            </p>
          )}
          {error === null ? null : <Problem error={error} />}
          {state === "sent" ? (
            <Button size="sm" onClick={() => setState("asking")}>
              Use another address
            </Button>
          ) : (
            <Button type="submit" variant="filled" size="sm" loading={state === "sending"}>
              Send me a link
            </Button>
          )}
        </form>
      </div>
    </main>
  );
}
