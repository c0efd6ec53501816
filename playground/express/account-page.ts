/** The account page: every way in, and what can be done about it. */
import type { Session } from 'authkernel'
import type { LinkedAccount, ListedSession } from 'authkernel/plugins/accounts'
import { html, type Html } from '../_shared/html.ts'
import { layout, personCard } from './layout.ts'

/** What the store keeps about the person. */
export interface Holdings {
  accounts: readonly LinkedAccount[]
  sessions: readonly ListedSession[]
  /** Of the access token of Acme ID; undefined: there is none. */
  token: TokenState | undefined
  /** The user tried to give up the last sign-in method. */
  last: boolean
}

/** `expiresAt` in seconds since the epoch. */
export interface TokenState {
  expiresAt?: number | undefined
  scope?: string | undefined
  problem?: string
}

// Acme ID gives tokens for an hour.
const lifetime = 3_600

export function accountPage(session: Session, { accounts, sessions, token, last }: Holdings): Html {
  const keys = accounts.filter(({ type }) => type === 'webauthn')
  const others = accounts.filter(({ type }) => type !== 'webauthn')
  const content = html`<div>
      <h1>Your account</h1>
      <p class="lead">Every way in that is listed here leads to the same person.</p>
    </div>
    ${last && html`<p class="card" role="alert">That is the last account: without it, you could not sign in. Add another one first.</p>`}
    <section class="card">${personCard(session.user ?? {})}</section>
    <div class="columns">${accountCard(others)}${passkeyCard(keys)}${sessionCard(sessions)}${tokenCard(token)}</div>`
  return layout('/account', 'Account', session, content, 'account')
}

const linkable = [
  ['acme', 'Acme ID'],
  ['globex', 'Globex'],
] as const

function accountCard(accounts: readonly LinkedAccount[]): Html {
  const open = linkable.filter(([id]) => !accounts.some(({ provider }) => provider === id))
  return html`<section class="card">
    <h2>Linked accounts</h2>
    <ul class="list" id="accounts">
      ${accounts.length === 0 && html`<li class="note">None: you came in by a link in a mail, or by password.</li>`}
      ${accounts.map(accountLine)}
    </ul>
    <div class="row">
      ${open.map(
        ([id, name]) =>
          html`<form method="post" action="/login/${id}">
            <input type="hidden" name="redirectTo" value="/account" />
            <button>Link ${name}</button>
          </form>`,
      )}
    </div>
  </section>`
}

function passkeyCard(keys: readonly LinkedAccount[]): Html {
  return html`<section class="card">
    <h2>Passkeys</h2>
    <ul class="list" id="passkeys">
      ${keys.length === 0 && html`<li class="note">None yet.</li>`} ${keys.map(accountLine)}
    </ul>
    <div class="row"><button id="add-passkey" type="button">Add a passkey</button></div>
    <p id="passkey-message" role="alert"></p>
  </section>`
}

// Ids are for programs: people know what they pressed.
const names: Readonly<Record<string, string>> = { ...Object.fromEntries(linkable), email: 'Link by mail', passkey: 'Passkey' }

function accountLine({ provider, providerAccountId, type }: LinkedAccount): Html {
  return html`<li>
    <div>
      ${names[provider] ?? provider}<small
        >${type === 'webauthn' ? 'A key on one of your devices' : `Account ${providerAccountId.slice(0, 24)}`}</small
      >
    </div>
    <form method="post" action="/account/unlink">
      <input type="hidden" name="provider" value="${provider}" />
      <input type="hidden" name="providerAccountId" value="${providerAccountId}" />
      <button class="small">Unlink</button>
    </form>
  </li>`
}

function sessionCard(sessions: readonly ListedSession[]): Html {
  return html`<section class="card">
    <h2>Devices</h2>
    <ul class="list" id="sessions">
      ${sessions.map(sessionLine)}
    </ul>
    <form method="post" action="/account/end-others"><button>End all others</button></form>
  </section>`
}

function sessionLine({ id, createdAt, lastUsed, current, expires, provider, address, userAgent }: ListedSession): Html {
  const minute = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const began = [provider && `by ${names[provider] ?? provider}`, address && `from ${address}`].filter(Boolean).join(' ')
  return html`<li>
    <div>
      ${current ? 'This browser' : 'Another browser'}
      <small>${createdAt && `since ${minute(createdAt)}, `}${lastUsed && `used ${minute(lastUsed)}, `}until ${minute(expires)}</small>
      <small>${began}</small>
      <small>${userAgent?.slice(0, 120)}</small>
    </div>
    ${
      !current &&
      html`<form method="post" action="/account/end">
        <input type="hidden" name="id" value="${id}" />
        <button class="small">End</button>
      </form>`
    }
  </li>`
}

function tokenCard(token: TokenState | undefined): Html {
  const left = token?.expiresAt === undefined ? undefined : token.expiresAt - Math.floor(Date.now() / 1000)
  return html`<section class="card" id="token">
    <h2>Access token of Acme ID</h2>
    ${!token && html`<p>None: you came in another way.</p>`} ${token?.problem && html`<p role="alert">${token.problem}</p>`}
    ${left !== undefined && html`<p id="token-age">${lifetime - left} seconds old, good for ${Math.floor(left / 60)} minutes.</p>`}
    <div class="row">
      ${token && !token.problem && html`<form method="post" action="/account/refresh"><button>Refresh it</button></form>`}
      <form method="post" action="/logout/provider"><button>Sign out at Acme ID, too</button></form>
    </div>
  </section>`
}
