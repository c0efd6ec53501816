/** What people see at the playground's provider. It looks different from the playground on purpose: it is another company. */
import { html, type Html } from './html.ts'
import { people, type Person } from './people.ts'

/** Account chooser: the sign-in of this provider. */
export function chooserPage(uid: string, app: string): Html {
  return layout(
    'Choose an account',
    html`<h1>Choose an account</h1>
      <p class="lead">to continue to <strong>${app}</strong></p>
      <form method="post" action="/interaction/${uid}/login" class="people">
        ${people.map(
          ({ sub, name, email, note }) =>
            html`<button name="sub" value="${sub}">
              <img src="/people/${sub}.svg" alt="" width="40" height="40" />
              <span><b>${name}</b><small>${email}</small></span>
              <em>${note}</em>
            </button>`,
        )}
      </form>
      ${cancel(uid)}`,
  )
}

/** The consent step. */
export function consentPage(uid: string, app: string, { sub, name, email }: Person): Html {
  return layout(
    `Continue as ${name}`,
    html`<img class="big" src="/people/${sub}.svg" alt="" width="72" height="72" />
      <h1>Continue as ${name}?</h1>
      <p class="lead"><strong>${app}</strong> will receive:</p>
      <ul>
        <li>Your name and picture</li>
        <li>Your address <b>${email}</b></li>
      </ul>
      <form method="post" action="/interaction/${uid}/consent"><button class="primary">Allow</button></form>
      ${cancel(uid)}`,
  )
}

/** Sign-out at the provider, asked for by an application. */
export async function logoutPage(ctx: { body: string }, form: string): Promise<void> {
  ctx.body = layout(
    'Sign out of Acme ID',
    html`<h1>Sign out of Acme ID too?</h1>
      <p class="lead">Next time you will choose an account again.</p>
      ${{ markup: form }}
      <button class="primary" type="submit" form="op.logoutForm" value="yes" name="logout">Sign out</button>
      <button class="quiet" type="submit" form="op.logoutForm">Stay signed in</button>`,
  ).markup
}

/** After a sign-out that no app waits for. */
export async function goodbyePage(ctx: { body: string }): Promise<void> {
  ctx.body = messagePage('Signed out', 'You can close this page.').markup
}

/** One sentence. */
export function messagePage(title: string, text: string): Html {
  return layout(
    title,
    html`<h1>${title}</h1>
      <p class="lead">${text}</p>`,
  )
}

function cancel(uid: string): Html {
  return html`<form method="post" action="/interaction/${uid}/cancel"><button class="quiet">Cancel</button></form>`
}

function layout(title: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Acme ID</title>
        <link rel="icon" href="data:," />
        <style>
          ${{ markup: style }}
        </style>
      </head>
      <body>
        <main>
          <p class="brand">
            <svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true"><path d="M12 2 3 20h5l4-8 4 8h5z" fill="currentColor" /></svg
            >Acme ID
          </p>
          ${content}
        </main>
      </body>
    </html>`
}

const style = `
:root{color-scheme:light dark;--bg:#eef2f7;--card:#fff;--text:#0f172a;--soft:#526075;--line:#d6dee9;--brand:#0b57d0;--on:#fff;--hover:#f3f7fd}
@media (prefers-color-scheme:dark){:root{--bg:#0b1120;--card:#141c2f;--text:#e8eefc;--soft:#9fb0cc;--line:#2a3652;--brand:#8ab4ff;--on:#0b1120;--hover:#1b2540}}
*{box-sizing:border-box}
body{margin:0;min-height:100svh;display:grid;place-items:center;padding:24px 16px;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{width:100%;max-width:440px;padding:32px 28px 24px;background:var(--card);border:1px solid var(--line);border-radius:20px;box-shadow:0 12px 40px rgb(15 23 42/.08)}
.brand{display:flex;gap:10px;align-items:center;margin:0 0 22px;color:var(--brand);font-weight:650;letter-spacing:-.01em}
h1{margin:0;font-size:26px;line-height:1.2;letter-spacing:-.02em}
.lead{margin:6px 0 20px;color:var(--soft)}
ul{margin:0 0 22px;padding:14px 18px 14px 34px;border:1px solid var(--line);border-radius:12px}
.big{display:block;margin:0 0 14px}
button{width:100%;font:inherit;color:inherit;cursor:pointer}
.people{display:grid;border:1px solid var(--line);border-radius:14px;overflow:hidden}
.people button{display:flex;gap:14px;align-items:center;padding:12px 14px;border:0;border-top:1px solid var(--line);background:none;text-align:left}
.people button:first-child{border-top:0}
.people button:hover{background:var(--hover)}
.people span{display:grid;min-width:0}.people small{color:var(--soft);overflow-wrap:anywhere}
.people em{margin-left:auto;max-width:8.5em;color:var(--soft);font-size:13px;font-style:normal;text-align:right}
@media (max-width:480px){main{padding:26px 20px 18px}.people button{flex-wrap:wrap;gap:2px 14px}.people span{flex:1}.people em{flex-basis:100%;max-width:none;margin:0 0 0 54px;text-align:left}}
.primary{padding:12px;border:0;border-radius:12px;background:var(--brand);color:var(--on);font-weight:600}
.primary:hover{filter:brightness(1.08)}
.quiet{margin-top:10px;padding:11px;border:0;border-radius:12px;background:none;color:var(--brand)}
.quiet:hover{background:var(--hover)}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
.people button:focus-visible{outline-offset:-3px}
@media (prefers-reduced-motion:no-preference){button{transition:background .12s,filter .12s}}
`
