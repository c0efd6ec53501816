/** A linked account as users may see it. */
import type { AdapterAccount, AdapterAccountType } from 'authkernel/kernel'

/** A linked account as users may see it: without tokens. */
export interface LinkedAccount {
  provider: string
  providerAccountId: string
  type: AdapterAccountType
}

/** Leaves the tokens out. */
export function toLinkedAccount({ provider, providerAccountId, type }: AdapterAccount): LinkedAccount {
  return { provider, providerAccountId, type }
}
