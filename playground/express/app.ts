/** The Express app: routes, and nothing about how people sign in. */
import type { Session } from 'authkernel'
import { AuthError } from 'authkernel'
import { TokensBusy, TokensExpired } from 'authkernel/plugins/provider-tokens'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import type { Html } from '../_shared/html.ts'
import type { Mailbox } from '../_shared/mail.ts'
import { accountPage, type TokenState } from './account-page.ts'
import { readAssets } from './assets.ts'
import type { Audit } from './audit.ts'
import type { PlaygroundAuth } from './auth.ts'
import { pluginsPage } from './plugins-page.ts'
import type { Board } from './switches.ts'
import type { Watched } from './watch.ts'
import { mailLanguages, mailsPage } from './mails-page.ts'
import { auditPage, errorPage, homePage, mailboxPage, protectedPage } from './pages.ts'

/** What the app is made of. */
export interface Parts {
  auth: PlaygroundAuth
  audit: Audit
  board: Board
  requests: readonly Watched[]
  mailbox: Mailbox
  issuer: string
  strategy: 'jwt' | 'database'
}

export function createApp(parts: Parts): Express {
  const { auth, audit, mailbox, issuer, strategy } = parts
  const app = express()
  app.disable('x-powered-by')
  for (const [path, { type, content }] of Object.entries(readAssets())) app.get(path, (_req, res) => void res.type(type).send(content))
  app.use('/auth', auth.express.handler)

  app.use((_req, res, next) => {
    // form-action names the provider, too: signing in there is a form that ends in a redirect. Pictures that are stored outlive its port.
    res.set(
      'content-security-policy',
      `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data: http://127.0.0.1:*; form-action 'self' ${issuer}; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'`,
    )
    res.set({ 'cache-control': 'private, no-store', 'referrer-policy': 'same-origin', 'x-content-type-options': 'nosniff' })
    next()
  })
  app.get('/audit/stream', (_req, res) => audit.stream(res))
  app.use(auth.express.middleware)
  app.get('/', (_req, res) => send(res, homePage(sessionOf(res), strategy)))
  app.get('/mailbox', (_req, res) => send(res, mailboxPage(sessionOf(res), mailbox.mails)))
  app.get('/mails', (req, res) => showMails(parts, req, res))
  app.get('/mails/:name', (req, res) => showMail(parts, req, res))
  app.get('/audit', (_req, res) => send(res, auditPage(sessionOf(res), audit.entries)))
  app.get('/protected', auth.express.requireSession(), (_req, res) => send(res, protectedPage(sessionOf(res) as Session)))
  app.get('/api/me', auth.express.requireSession(), (_req, res) => void res.json(sessionOf(res)))

  app.use(express.urlencoded({ extended: false, limit: '16kb' }))
  app.post('/login/:provider', (req, res) => signIn(auth, req, res))
  app.post('/logout', (req) => auth.express.signOut(req, { redirectTo: '/' }))
  app.post('/logout/provider', (req) => auth.express.signOut(req, { redirectTo: '/?goodbye' }))
  account(app, parts)
  app.get('/plugins', (_req, res) => send(res, pluginsPage(sessionOf(res), { groups: parts.board.groups(), log: parts.requests })))
  app.post('/plugins', sameOrigin, (req, res) => switchPlugin(parts, req, res))

  app.use((_req, res) => send(res.status(404), errorPage(404, 'This page does not exist.')))
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => fail(error, res))
  return app
}

async function showMails({ auth }: Parts, req: Request, res: Response): Promise<void> {
  const lang = languageOf(req)
  const names = await auth.mailTemplates.list()
  const mails = await Promise.all(names.map(async (name) => ({ name, ...(await auth.mailTemplates.preview(name, { lang })) })))
  send(res, mailsPage(sessionOf(res), mails, lang))
}

async function showMail({ auth }: Parts, req: Request, res: Response): Promise<void> {
  const name = String(req.params['name'])
  if (!(await auth.mailTemplates.list()).includes(name)) return send(res.status(404), errorPage(404, 'No plugin declares this mail.'))
  // A mail has inline styles, and a page of the playground shows it in a frame without scripts.
  res.set('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; img-src https:; frame-ancestors 'self'")
  res.type('html').send((await auth.mailTemplates.preview(name, { lang: languageOf(req) })).html)
}

function languageOf(req: Request): string {
  const lang = String(req.query['lang'] ?? 'en')
  return Object.hasOwn(mailLanguages, lang) ? lang : 'en'
}

function account(app: Express, parts: Parts): void {
  const guard = parts.auth.express.requireSession
  app.get('/account', guard, (req, res) => showAccount(parts, req, res))
  app.post('/account/unlink', sameOrigin, guard, (req, res) => unlink(parts, req, res))
  app.post('/account/end', sameOrigin, guard, (req, res) => endOne(parts, req, res))
  app.post('/account/end-others', sameOrigin, guard, (req, res) => endOthers(parts, req, res))
  app.post('/account/refresh', sameOrigin, guard, (req, res) => refresh(parts, req, res))
}

async function showAccount(parts: Parts, req: Request, res: Response): Promise<void> {
  const { auth } = parts
  if (!('accounts' in auth)) return send(res.status(404), errorPage(404, 'The plugin accounts is switched off.'))
  const person = auth.express.request(req)
  const [accounts, sessions, token] = await Promise.all([auth.accounts.list(person), auth.sessions.list(person), tokenOf(parts, req, 0)])
  send(res, accountPage(sessionOf(res) as Session, { accounts, sessions, token, last: 'last' in req.query }))
}

/** What is known of the access token of Acme ID; never the token itself. */
async function tokenOf({ auth }: Parts, req: Request, minValid: number): Promise<TokenState | undefined> {
  if (!('tokens' in auth)) return undefined
  try {
    const token = await auth.tokens.get(auth.express.request(req), 'acme', { minValid })
    return token ? { expiresAt: token.expiresAt, scope: token.scope } : undefined
  } catch (error) {
    if (error instanceof TokensExpired || error instanceof TokensBusy) return { problem: error.message }
    throw error
  }
}

async function refresh(parts: Parts, req: Request, res: Response): Promise<void> {
  // No token is good for a year: this one is asked for anew.
  await tokenOf(parts, req, 86_400)
  res.redirect('/account#token')
}

async function endOne({ auth }: Parts, req: Request, res: Response): Promise<void> {
  const { id = '' } = req.body as Record<string, string>
  await auth.sessions.revoke(auth.express.request(req), id)
  res.redirect('/account')
}

async function unlink({ auth }: Parts, req: Request, res: Response): Promise<void> {
  if (!('accounts' in auth)) return res.redirect('/account')
  const { provider = '', providerAccountId = '' } = req.body as Record<string, string>
  try {
    await auth.accounts.unlink(auth.express.request(req), { provider, providerAccountId })
    res.redirect('/account')
  } catch (error) {
    // The last way in stays.
    if (!(error instanceof AuthError)) throw error
    res.redirect('/account?last')
  }
}

async function endOthers({ auth }: Parts, req: Request, res: Response): Promise<void> {
  await auth.sessions.revokeOthers(auth.express.request(req))
  res.redirect('/account')
}

async function switchPlugin({ board, requests }: Parts, req: Request, res: Response): Promise<void> {
  const { id = '', on = '' } = req.body as Record<string, string>
  try {
    const fault = await board.set(id, on === 'yes')
    if (fault === undefined) return res.redirect(303, `/plugins#plugin-${id}`)
    send(res.status(409), pluginsPage(sessionOf(res), { groups: board.groups(), log: requests, fault }))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    send(res.status(404), errorPage(404, error.message))
  }
}

async function signIn(auth: PlaygroundAuth, req: Request, res: Response): Promise<void> {
  const { redirectTo, prompt, ...fields } = req.body as Record<string, string>
  try {
    await auth.express.signIn(req, String(req.params.provider), {
      redirectTo: redirectTo ?? '/',
      fields,
      authorizationParams: prompt ? { prompt } : {},
    })
  } catch (error) {
    if (!(error instanceof AuthError) || error.kind !== 'signIn') throw error
    const code = 'code' in error ? `&code=${encodeURIComponent(String(error.code))}` : ''
    res.redirect(`/auth/signin?error=${error.type}${code}`)
  }
}

/** The app's own forms: the browser must say that they come from here. */
function sameOrigin(req: Request, res: Response, next: NextFunction): void {
  if (req.get('origin') === `${req.protocol}://${req.host}`) return next()
  res.status(403).send(errorPage(403, 'This form was sent from another site.').markup)
}

function sessionOf(res: Response): Session | null {
  return res.locals.session ?? null
}

function send(res: Response, page: Html): void {
  res.type('html').send(page.markup)
}

function fail(error: unknown, res: Response): void {
  if (res.headersSent) return void res.destroy()
  const status =
    error !== null && typeof error === 'object' && 'status' in error ? Number(error.status) : res.statusCode >= 400 ? res.statusCode : 500
  if (status >= 500) console.error(error)
  send(res.status(status), errorPage(status, status >= 500 ? 'The server has written down why.' : 'The request was not understood.'))
}
