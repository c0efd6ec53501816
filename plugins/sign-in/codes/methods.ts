/** `client.codes` and `client.phone`. */
import { clientMethod, clientMethods, type ClientPart, type Kernel, readFields } from 'authkernel/kernel'
import { finishCodeSignIn } from './finish.ts'
import type { CodeKind } from './kind.ts'
import type { CodeKindName } from './register.ts'
import { startCodeSignIn } from './start.ts'

/** Methods of the client. `url` is the page on which the code is typed, or where the sign-in leads. */
export interface CodeMethods<I extends object> {
  /** Sends a message with a code. Every identifier gets the same answer. */
  send(input: I & { callbackUrl?: string }): Promise<{ url: string }>
  /** Signs in by the code that this browser asked for. */
  verify(input: { code: string; callbackUrl?: string }): Promise<{ url: string }>
}

/** Adds the methods of one kind. */
export function codeMethods<I extends object, N extends CodeKindName>(
  kernel: Kernel,
  kind: CodeKind,
  name: N,
): ClientPart<{ readonly [K in N]: CodeMethods<I> }> {
  clientMethods(kernel, name, {
    // Beside the form of the sign-in page: both make a message leave.
    send: { ...clientMethod(readFields, (ctx) => startCodeSignIn(ctx, kind)), takes: 'typed' },
    verify: clientMethod(readFields, (ctx) => finishCodeSignIn(ctx, kind)),
  })
  return {} as ClientPart<{ readonly [K in N]: CodeMethods<I> }>
}
