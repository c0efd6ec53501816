/** The page on which users choose their name, and their section of the account page. */
import { type Context, type Kernel, redirectTo } from 'authkernel/kernel'
import { changeName, ownName } from './names.ts'
import type { NameRules } from './options.ts'

/** Adds page, route and section. */
export function addPages(kernel: Kernel, rules: NameRules): void {
  kernel.page(
    'userName',
    async (ctx, { say, form, field, submit, alert, typed }, { error }) => {
      const { id } = (await ctx.session.user(ctx)) ?? {}
      if (id === undefined) return ctx.page('signIn')
      const name = typed('username') ?? (await ownName(ctx, id))?.name
      const input = field('username', {
        label: 'usernames.name',
        required: true,
        autocomplete: 'username',
        maxlength: 32,
        autocapitalize: 'none',
        spellcheck: 'false',
        ...(name !== undefined && { value: name }),
      })
      return {
        title: say('usernames.title'),
        lead: say(rules.unicode ? 'usernames.lead-unicode' : 'usernames.lead'),
        body: [alert(error), await form('/username', [input, submit(say('usernames.save'))])],
        ...(error !== undefined && { status: 400 }),
      }
    },
    { path: '/username' },
  )
  kernel.route({ method: 'POST', path: '/username', handler: (ctx) => saveName(ctx, rules) })
  kernel.accountSection({
    id: 'username',
    order: 110,
    async draw(ctx, { say, buttonLink, html }) {
      const { id } = (await ctx.session.user(ctx)) ?? {}
      if (id === undefined) return undefined
      const name = (await ownName(ctx, id))?.name
      const text = name !== undefined && html`<bdi>${name}</bdi>`
      return { heading: say('usernames.title'), text, actions: buttonLink(say('usernames.change'), '/username') }
    },
  })
}

async function saveName(ctx: Context, rules: NameRules): Promise<Response> {
  const { id } = (await ctx.session.user(ctx)) ?? {}
  if (id === undefined) return ctx.page('signIn')
  const found = await changeName(ctx, rules, id, (await ctx.body())['username'])
  return 'error' in found ? ctx.render('userName', { error: found.error }) : redirectTo(`${ctx.base}/account`)
}
