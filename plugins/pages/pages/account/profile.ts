/** Profile: name and address. */
import type { AccountSection, AdapterUser } from 'authkernel/kernel'
import { markup } from '../html.ts'
import { personOf } from './person.ts'

export const profileSection: AccountSection = {
  id: 'profile',
  order: 100,
  async draw(ctx, { say }) {
    const person = (await personOf(ctx)) ?? {}
    const { name, email } = person
    // Only a stored user has been asked to prove the address.
    const proved = 'emailVerified' in person ? (person as AdapterUser).emailVerified !== null : undefined
    const state = proved === undefined ? undefined : say(proved ? 'account.confirmed' : 'account.unconfirmed')
    return {
      heading: say('account.profile'),
      body: markup`<dl class="facts">
${name && markup`<div><dt>${say('account.name')}</dt><dd><bdi>${name}</bdi></dd></div>`}
${email && markup`<div><dt>${say('account.email')}</dt><dd><bdi>${email}</bdi>${state && markup` <small>${state}</small>`}</dd></div>`}
</dl>`,
    }
  },
}
