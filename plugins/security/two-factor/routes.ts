/** Routes below `/two-factor`: the forms of the question and of the setup, the way to a fresh proof, and the ceremonies of passkeys. */
import { json, type Kernel } from 'authkernel/kernel'
import { leadToFactor } from './changes.ts'
import type { Options } from './options.ts'
import { answerCeremony } from './passkey-form.ts'
import { currentPerson } from './person.ts'
import { answerFactor, sendMailedCode } from './question.ts'
import { changeFactors } from './setup.ts'

export function addRoutes(kernel: Kernel, options: Options): void {
  if (options.factors.some(({ kind }) => kind === 'passkey'))
    kernel.route({
      method: 'GET',
      path: '/two-factor/passkey',
      handler: (ctx) => answerCeremony(ctx, options),
      failure: (_ctx, error) => json({ error: 'Server error' }, error.status),
    })
  kernel.route({
    method: 'GET',
    path: '/two-factor/again',
    async handler(ctx) {
      const person = await currentPerson(ctx)
      return person ? leadToFactor(ctx, person, options, `${ctx.base}/account`) : ctx.page('signIn')
    },
  })
  kernel.route({ method: 'POST', path: '/two-factor', flow: 'callback', takes: 'proof', handler: (ctx) => answerFactor(ctx, options) })
  kernel.route({ method: 'POST', path: '/two-factor/send', handler: (ctx) => sendMailedCode(ctx, options) })
  kernel.route({ method: 'POST', path: '/two-factor/setup', handler: (ctx) => changeFactors(ctx, options) })
}
