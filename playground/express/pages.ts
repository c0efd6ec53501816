/** What the playground shows. */
import type { Session } from 'authkernel'
import { html, type Html } from '../_shared/html.ts'
import type { Mail } from '../_shared/mail.ts'
import type { Entry } from './audit.ts'
import { layout, personCard } from './layout.ts'

/** The session, or the ways to get one. */
export function homePage(session: Session | null, strategy: string): Html {
  return layout(
    '/',
    'Home',
    session,
    html` <div>
        <h1>${session?.user ? `Hello, ${session.user.name ?? session.user.email ?? 'you'}.` : 'Sign in, look around, break things.'}</h1>
        <p class="lead">
          A real app on one side, a real OpenID Provider, mail server and passkeys on the other. Everything runs on this machine.
        </p>
      </div>
      <div class="columns">${session?.user ? signedIn(session, strategy) : signedOut()}</div>`,
  )
}

function signedIn(session: Session, strategy: string): Html {
  return html` <section class="card" aria-label="Session">
      ${personCard(session.user ?? {})}
      <p>Strategy <span class="tag">${strategy}</span>, until ${session.expires.slice(0, 16).replace('T', ' ')} UTC.</p>
      <div class="row">
        <a class="button primary" href="/account">Your account</a>
        <form method="post" action="/logout"><button>Sign out</button></form>
      </div>
    </section>
    <section class="card">
      <h2>What the server knows</h2>
      <p><code>await auth.express.session(req)</code></p>
      <pre id="session">${JSON.stringify(session, null, 2)}</pre>
    </section>`
}

function signedOut(): Html {
  return html` <section class="card">
      <h2>One click</h2>
      <p>Acme ID is the OpenID Provider next door. Choose Ada, press Allow.</p>
      <div class="row">
        <form method="post" action="/login/acme"><button class="primary">Continue with Acme ID</button></form>
        <a class="button" href="/auth/signin">All ways to sign in</a>
      </div>
    </section>
    <section class="card">
      <h2>What to try</h2>
      <ul class="list">
        ${tries.map(
          ([title, text]) =>
            html`<li>
              <div>${title}<small>${text}</small></div>
            </li>`,
        )}
      </ul>
    </section>`
}

const tries = [
  ['A password', 'demo and playground. Any other is wrong, and the audit log says so.'],
  ['A link by mail', 'Any address. The mail arrives in the mailbox above.'],
  ['A passkey', 'Sign in, then add one on your account page.'],
  ['A PIN', '4711. A provider type that this playground made up.'],
  ['Mallory', 'Acme ID knows her, this app refuses her.'],
] as const

/** For people with a session only. */
export function protectedPage(session: Session): Html {
  return layout(
    '/protected',
    'Protected',
    session,
    html` <div>
        <h1>Only you can see this.</h1>
        <p class="lead">Without a session you would have been sent to the sign-in page, and from there back to this one.</p>
      </div>
      <section class="card">${personCard(session.user ?? {})}</section>`,
  )
}

/** What the SMTP server received. */
export function mailboxPage(session: Session | null, mails: readonly Mail[]): Html {
  return layout(
    '/mailbox',
    'Mailbox',
    session,
    html` <div>
        <h1>Mailbox</h1>
        <p class="lead"><span class="live" aria-hidden="true"></span>Whatever the SMTP server on loopback receives, for any address.</p>
      </div>
      ${mails.length === 0 && html`<p class="card empty">No mail yet. <a href="/auth/signin">Ask for a link</a> with any address.</p>`}
      ${mails.map(
        ({ id, to, subject, text, link, at }) =>
          html`<article class="card mail" id="mail-${id}">
            <h2>${subject}</h2>
            <p>To ${to}, ${at.toISOString().slice(11, 19)} UTC</p>
            <pre>${text.trim()}</pre>
            ${link && html`<a class="button primary" href="${link}">Open the link</a>`}
          </article>`,
      )}`,
    'live',
  )
}

/** Every event, newest first. */
export function auditPage(session: Session | null, entries: readonly Entry[]): Html {
  return layout(
    '/audit',
    'Audit log',
    session,
    html` <div>
        <h1>Audit log</h1>
        <p class="lead">
          <span class="live" aria-hidden="true"></span>Every event of the kernel, as it happens. Sign in with another browser and watch.
        </p>
      </div>
      <section class="card">
        ${entries.length === 0 && html`<p class="empty">Nothing has happened yet.</p>`}
        <ul class="list" id="log" aria-live="polite">
          ${entries.map(line)}
        </ul>
        <template id="line">${line({ id: 0, at: '', event: '', detail: '', bad: false })}</template>
      </section>`,
    'live',
  )
}

function line({ at, event, detail, bad }: Entry): Html {
  return html`<li ${bad && html`class="bad"`}>
    <span class="tag">${event}</span>
    <div>${detail}</div>
    <time>${at.slice(11, 19)} UTC</time>
  </li>`
}

/** An error of the app itself. */
export function errorPage(status: number, text: string): Html {
  return layout(
    '',
    'Error',
    null,
    html`<div>
        <h1>${status === 404 ? 'There is nothing here.' : 'That did not work.'}</h1>
        <p class="lead">${text}</p>
      </div>
      <p><a class="button" href="/">Back to the start</a></p>`,
  )
}
