/** A provider type of a stranger, which knows nothing of second factors. */
import type { Identity, ProviderFlow } from 'authkernel/kernel'

interface DoorConfig {
  id: string
  name: string
  type: 'door'
}
declare module 'authkernel/kernel' {
  interface ProviderTypes {
    door: DoorConfig
  }
}
/** A person who types an address is that user. */
export const door: ProviderFlow<DoorConfig> = {
  callback: { GET: false, POST: 'token' },
  options: { id: true, name: true, type: true },
  async finish(ctx): Promise<Identity> {
    const { card } = await ctx.body()
    return {
      user: { email: String(card) },
      account: { provider: 'door', type: 'door', providerAccountId: String(card) },
      match: 'account',
      startedBy: null,
    } as Identity
  },
}
