/** `client.address`. */
import { clientMethod, clientMethods, type ClientPart, type Kernel, readFields } from 'authkernel/kernel'
import { requestChange } from './change.ts'
import type { ResolvedOptions } from './options.ts'

/** Methods of the client. */
export interface AddressMethods {
  /** Mails a link to the new address. The response is the same whether another user has that address or not. */
  change(input: { email: string }): Promise<{ url: string }>
}

/** Adds the methods. */
export function addClientMethods(kernel: Kernel, options: ResolvedOptions): ClientPart<{ readonly address: AddressMethods }> {
  return clientMethods(kernel, 'address', { change: clientMethod(readFields, (ctx) => requestChange(ctx, options)) })
}
