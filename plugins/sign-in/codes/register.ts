/** What both plugins of codes register: type and provider, the page of the code, and records. */
import { type AdapterUser, type Context, type Kernel, type ProviderFlow, type ProviderOf, redirectTo } from 'authkernel/kernel'
import { TooManyCodes, WrongCode } from './errors.ts'
import { finishCodeSignIn } from './finish.ts'
import type { CodeKind } from './kind.ts'
import { drawCodePage } from './pages.ts'
import { type PendingCode, startCodeSignIn } from './start.ts'
import { codeTable, guessTable } from './tables.ts'

/** Name of the plugin, its provider and its type. */
export type CodeKindName = 'codes' | 'phone'

/** Registers one kind of codes. */
export function registerCodes<T extends CodeKindName>(kernel: Kernel, kind: CodeKind, { id, name }: ProviderOf<T>): void {
  // One flow serves all kinds of codes. The type of its options depends on the name of the kind.
  kernel.providerType(id as CodeKindName, createCodeFlow(kind) as never)
  kernel.provider({ id, name, type: id } as ProviderOf<CodeKindName>)
  kernel.declareEvent('codesGuessed')
  kernel.records('signInCode', codeTable)
  kernel.records('signInCodeGuess', guessTable)
  kernel.cookie(kind.cookie)
  kernel.page(kind.page, (ctx, tools, params) => drawCodePage(ctx, tools, params, kind), { path: kind.path })
  // Wrong codes lead back to the page on which they were typed, as long as this browser waits for one.
  kernel.hook('failure', async ({ error, ctx }) => {
    if (!(error instanceof WrongCode || error instanceof TooManyCodes) || error.cause?.['provider'] !== kind.name) return undefined
    return (await kind.cookie.open<PendingCode>(ctx)) ? redirectTo(`${ctx.base}${kind.path}?error=${error.type}`) : undefined
  })
}

function createCodeFlow(kind: CodeKind): ProviderFlow<{ id: string; name: string; type: CodeKindName }> {
  return {
    callback: { POST: 'token' },
    options: { id: true, name: true, type: true },
    form: () => ({ post: 'signin', stays: true, fields: { [kind.field]: kind.input }, submit: kind.submit }),
    ...(kind.check && { check: () => kind.check?.() }),
    // A number says nothing about the address of its user.
    ...(kind.field === 'email'
      ? { provesAddress: () => true, canSignIn: (_ctx: Context, _provider: unknown, { email }: AdapterUser) => Boolean(email) }
      : { vouches: () => false }),
    start: (ctx) => startCodeSignIn(ctx, kind),
    finish: (ctx) => finishCodeSignIn(ctx, kind),
  }
}
