/** What both plugins of codes register: type and provider, the page of the code, records, texts, and methods of the client. */
import {
  type ClientPart,
  clientMethod,
  clientMethods,
  type Context,
  type Kernel,
  type PageTools,
  type PageView,
  type ProviderFlow,
  type ProviderOf,
  redirectTo,
} from 'authkernel/kernel'
import { TooManyCodes, WrongCode } from './errors.ts'
import { finish } from './finish.ts'
import type { Line } from './line.ts'
import { type Asked, start } from './start.ts'
import { codeTable, guessTable } from './tables.ts'

type LineType = 'codes' | 'phone'
/** Methods of the client. `url` is the page on which the code is typed, or where the sign-in leads. */
export interface CodeMethods<I extends object> {
  /** Sends a message with a code. Anybody gets the same answer. */
  send(input: I & { callbackUrl?: string }): Promise<{ url: string }>
  /** Signs in by the code that this browser asked for. */
  verify(input: { code: string; callbackUrl?: string }): Promise<{ url: string }>
}

/** Registers a line. */
export function addLine<T extends LineType>(kernel: Kernel, line: Line, { id, name }: ProviderOf<T>): void {
  kernel.providerType(id as LineType, flowOf(line) as never)
  kernel.provider({ id, name, type: id } as ProviderOf<LineType>)
  kernel.declareEvent('codesGuessed')
  kernel.records('signInCode', codeTable)
  kernel.records('signInCodeGuess', guessTable)
  kernel.cookie(line.cookie)
  kernel.page(line.page, (ctx, tools, params) => page(ctx, tools, params, line), { path: line.path })
  // Wrong codes lead back to the page on which they were typed, as long as it has somebody to ask.
  kernel.hook('failure', async ({ error, ctx }) => {
    if (!(error instanceof WrongCode || error instanceof TooManyCodes) || error.cause?.['provider'] !== line.name) return undefined
    return (await line.cookie.open<Asked>(ctx)) ? redirectTo(`${ctx.base}${line.path}?error=${error.type}`) : undefined
  })
}

/** Methods of the client for a line. */
export function lineMethods<I extends object, N extends LineType>(
  kernel: Kernel,
  line: Line,
  name: N,
): ClientPart<{ readonly [K in N]: CodeMethods<I> }> {
  const fields = (sent: unknown): Record<string, unknown> => {
    if (typeof sent !== 'object' || sent === null) throw new TypeError('an object')
    return { ...sent }
  }
  clientMethods(kernel, name, {
    // Beside the form of the sign-in page: both make a message leave.
    send: { ...clientMethod(fields, (ctx) => start(ctx, line)), takes: 'typed' },
    verify: clientMethod(fields, (ctx) => finish(ctx, line)),
  })
  return {} as ClientPart<{ readonly [K in N]: CodeMethods<I> }>
}

function flowOf(line: Line): ProviderFlow<{ id: string; name: string; type: LineType }> {
  return {
    callback: { POST: 'csrf' },
    options: { id: true, name: true, type: true },
    form: () => ({ post: 'signin', stays: true, fields: { [line.field]: line.input }, submit: line.submit }),
    ...(line.check && { check: () => line.check?.() }),
    // A number says nothing about the address of its user.
    ...(line.field === 'email' ? { provesAddress: () => true } : { vouches: () => false }),
    start: (ctx) => start(ctx, line),
    finish: (ctx) => finish(ctx, line),
  }
}

async function page(
  ctx: Context,
  { say, form, field, submit, alert, html, duration }: PageTools,
  { error }: Readonly<Record<string, string | undefined>>,
  line: Line,
): Promise<PageView | Response> {
  const asked = await line.cookie.open<Asked>(ctx)
  if (!asked) return ctx.page('signIn')
  const code = field('code', {
    label: `${line.name}.code`,
    type: 'text',
    inputmode: 'numeric',
    autocomplete: 'one-time-code',
    required: true,
    maxlength: 32,
    autofocus: true,
  })
  return {
    title: say(`${line.name}.title`),
    lead: say(`${line.name}.lead`, { to: html`<b><bdi>${asked.identifier}</bdi></b>` }),
    body: [
      alert(error),
      await form(`/callback/${line.name}`, [code, submit(say(`${line.name}.continue`))]),
      html`<p class="hint">${say(`${line.name}.valid`, { left: duration(600) })} ${say(`${line.name}.never-tell`)}</p>`,
      await form(`/signin/${line.name}`, submit(say(`${line.name}.again`), { quiet: true }), { [line.field]: asked.identifier }),
    ],
    ...(error !== undefined && { status: 400 }),
  }
}
