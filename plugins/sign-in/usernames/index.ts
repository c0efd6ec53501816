/** Usernames: ASCII, reserved names rejected, and no look-alikes of existing ones. */
import type { AnyContext, Plugin, User } from 'authkernel/kernel'
import { messages } from './messages.ts'
import { usernameMethods, usernamesApi, type UsernamesApi, type UsernamesClient } from './methods.ts'
import { nameTarget } from './name-import.ts'
import { findByName } from './names.ts'
import { resolveOptions, type UsernamesOptions } from './options.ts'
import { addPages } from './pages.ts'
import { nameTable } from './tables.ts'

export type { UsernamesApi, UsernamesClient } from './methods.ts'
export type { UsernamesOptions } from './options.ts'
export type { NameRefusal } from './rules.ts'
export type { NameTaken } from './name-import.ts'
export type { UserNameRow } from './tables.ts'

/** A service for plugins that sign users in by a name. */
export interface UserNames {
  /** The stored user who has a name; null: none. */
  find(ctx: AnyContext, typed: string): Promise<(User & { id: string }) | null>
}

declare module 'authkernel/kernel' {
  interface Services {
    userNames: UserNames
  }
}

/** Gives users names, and signs them in by these where passwords are kept. Needs an adapter and the service `records`. */
export function usernamesPlugin(options: UsernamesOptions = {}): Plugin<UsernamesApi & UsernamesClient> {
  const rules = resolveOptions(options)
  return {
    name: 'usernames',
    requires: ['store', 'records', 'limit'],
    setup(kernel) {
      kernel.records('userName', nameTable)
      kernel.messages(messages)
      kernel.provide('userNames', {
        async find(ctx, typed) {
          const row = await findByName(ctx, rules, typed)
          return row && ((await ctx.service('store').getUser(row.userId)) as (User & { id: string }) | null)
        },
      })
      kernel.provide('nameImport', nameTarget(rules))
      addPages(kernel, rules)
      return { usernames: usernamesApi(kernel, rules), ...usernameMethods(kernel, rules) }
    },
  }
}
