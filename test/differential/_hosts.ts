/** Configurations that several tables start from. */
import type { Kit } from './_flow.ts'
import type { RecordedAdapter } from './_adapter.ts'
import { split } from './_browser.ts'

type Options = Record<string, unknown>

/** An OpenID provider. */
export function acme(kit: Kit, over: Options = {}): Options {
  return {
    id: 'acme',
    name: 'Acme',
    type: 'oidc',
    issuer: kit.op.issuer,
    clientId: 'client-1',
    clientSecret: 'client-secret',
    [kit.symbols.customFetch]: kit.op.fetch,
    ...over,
  }
}

/** An OAuth provider with its three endpoints. */
export function hub(kit: Kit, over: Options = {}): Options {
  const at = (path: string): string => kit.op.issuer + path
  return {
    id: 'hub',
    name: 'Hub',
    type: 'oauth',
    clientId: 'client-2',
    clientSecret: 'client-secret',
    authorization: at('/authorize'),
    token: at('/token'),
    userinfo: at('/userinfo'),
    [kit.symbols.customFetch]: kit.op.fetch,
    ...over,
  }
}

/** A mail provider whose mails are written down; the last link is `links.at(-1)`. */
export function mail(kit: Kit, links: string[] = [], over: Options = {}): Options {
  return {
    id: 'mail',
    name: 'Mail',
    type: 'email',
    from: 'Example <no-reply@example.com>',
    // Both alike (D29).
    maxAge: 3600,
    sendVerificationRequest(message: { url: string; provider: { id: string } }) {
      const { provider, ...rest } = message
      kit.recorder.note('mail', provider.id, rest)
      links.push(message.url)
    },
    ...over,
  }
}

export const ann = { id: 'ann', name: 'Ann', email: 'ann@example.com', image: null }

/** A form with a username and a password; `right` lets in. */
export function form(kit: Kit, over: Options = {}): Options {
  return {
    id: 'credentials',
    name: 'Credentials',
    type: 'credentials',
    credentials: { username: { label: 'Name' }, password: { label: 'Password', type: 'password' } },
    async authorize(credentials: Options, request: Request) {
      kit.recorder.note('host', 'authorize', {
        credentials,
        request: { method: request.method, ...split(request.url), body: await request.clone().json() },
      })
      return credentials['password'] === 'right' ? { ...ann } : null
    },
    ...over,
  }
}

/** Something of every type but webauthn. */
export function everything(kit: Kit, over: Options = {}): Options & { adapter: RecordedAdapter } {
  return { providers: [acme(kit), hub(kit), mail(kit), form(kit)], adapter: kit.adapter(), session: { strategy: 'jwt' }, ...over } as never
}
