/** A host with passwords, codes and a second factor: the same in the test and in each of its processes. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, MailMessage, Plugin } from 'authkernel/kernel'
import { codesPlugin, email } from 'authkernel/plugins/codes'
import { passwordsPlugin } from 'authkernel/plugins/passwords'
import { twoFactorPlugin } from 'authkernel/plugins/two-factor'

/** Posts one form from the given browsers at once, `times` from each; answers for each whether a session came of it. */
export interface LocalsTask {
  do: 'locals'
  path: string
  /** Cookie headers. */
  browsers: string[]
  fields: Record<string, string>[]
  times: number
}

export function localsHost(adapter: Adapter): Auth<{ mails: MailMessage[] }> {
  const mails: MailMessage[] = []
  const postbox: Plugin<{ mails: MailMessage[] }> = {
    name: 'postbox',
    setup(kernel) {
      kernel.provide('mailTransport', { send: (mail) => void mails.push(mail) })
      return { mails }
    },
  }
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    origin: 'http://localhost:3000',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    session: { strategy: 'database' },
    throttle: false,
  })
    .use(postbox)
    .use(passwordsPlugin({ breached: false }))
    .use(codesPlugin({ via: email() }))
    .use(twoFactorPlugin())
}

let host: ReturnType<typeof localsHost> | undefined

export async function actAsLocals(
  adapter: Adapter,
  { path, browsers, fields, times }: LocalsTask,
): Promise<PromiseSettledResult<unknown>[]> {
  const auth = (host ??= localsHost(adapter))
  const post = async (cookie: string, body: Record<string, string>): Promise<boolean> => {
    const init = { method: 'POST', headers: { cookie }, body: new URLSearchParams(body) }
    const response = await auth.handler(new Request(`http://localhost:3000/auth${path}`, init))
    if (response.status >= 500) throw new Error(`${path} answered ${response.status}`)
    return response.headers.getSetCookie().some((line) => /session-token=[^;]/.test(line))
  }
  return Promise.allSettled(
    browsers.flatMap((cookie, at) =>
      Array.from({ length: times }, () => post(cookie, fields[at % fields.length] as Record<string, string>)),
    ),
  )
}
