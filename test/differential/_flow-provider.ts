/** One flow with one provider whose options vary. */
import type { Flow, Kit } from './_flow.ts'
import { signIn } from './_flows-oauth.ts'
import { acme, hub } from './_hosts.ts'
import type { OpOptions } from './_op.ts'

type Options = Record<string, unknown>

const makers = { acme, hub }
export type Id = 'acme' | 'hub'

/** By default: out to the provider and back. */
export function flow(
  name: string,
  id: Id,
  over: Options | ((kit: Kit) => Options) = {},
  op: OpOptions = {},
  run?: Flow['run'],
  more: (kit: Kit) => Options = () => ({}),
): Flow {
  return {
    name: `${id}: ${name}`,
    op,
    config: (kit) => ({
      providers: [makers[id](kit, typeof over === 'function' ? over(kit) : over)],
      adapter: kit.adapter(),
      callbacks: kit.watch('signIn', 'redirect'),
      ...more(kit),
    }),
    run: run ?? ((b, kit) => signIn(b, kit, id)),
  }
}

/** The same with either provider. */
export const both = (
  name: string,
  over: Options | ((kit: Kit) => Options) = {},
  op: OpOptions = {},
  run?: (id: Id) => Flow['run'],
  more?: (kit: Kit) => Options,
): Flow[] => (['acme', 'hub'] as const).map((id) => flow(name, id, over, op, run?.(id), more))
