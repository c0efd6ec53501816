/** The page on which users change their name, their picture, and the custom fields that the host marks as editable. */
import {
  type AdapterUser,
  type AdditionalField,
  type Content,
  type Context,
  HttpError,
  type Kernel,
  type PageDraw,
  type PageTools,
  redirectTo,
} from 'authkernel/kernel'
import { findUserId } from './pages.ts'
import { changeProfile, checkChange } from './profile.ts'

const path = '/account/profile'
const form = 'profile'

/** Adds the page, which the section `profile` of the account page links to, and the route that its form posts to. */
export function addProfilePage(kernel: Kernel): void {
  kernel.page('accountProfile', drawProfile, { path })
  kernel.route({ method: 'POST', path, handler: saveProfile })
}

const drawProfile: PageDraw = async (ctx, tools, { error, field: wrong }) => {
  const { say, alert, card, submit, buttonLink } = tools
  const user = await findUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}${path}` })
  const fields = [
    drawText(tools, { name: 'name', label: 'accounts.profile.name', value: user.name, wrong, maxlength: 200, autocomplete: 'name' }),
    drawText(tools, {
      name: 'image',
      label: 'accounts.profile.image',
      value: user.image,
      wrong,
      maxlength: 2048,
      autocomplete: 'photo',
      type: 'url',
    }),
    ...Object.entries(ctx.service('store').editableFields).map(([name, spec]) => drawOwn(tools, name, spec, user, wrong)),
  ]
  return {
    title: say('accounts.profile'),
    layout: 'wide',
    body: [
      alert(error),
      card({
        title: say('accounts.profile'),
        text: say('accounts.profile.text'),
        // `typed` knows the form by this value.
        body: await tools.form(path, [...fields, submit(say('accounts.profile.save'))], { action: form }),
      }),
      buttonLink(say('accounts.profile.back'), '/account'),
    ],
    ...(error !== undefined && { status: 400 }),
  }
}

async function saveProfile(ctx: Context): Promise<Response> {
  const user = await findUser(ctx)
  if (!user) return ctx.page('signIn', { callbackUrl: `${ctx.base}${path}` })
  const store = ctx.service('store')
  const body = await ctx.body()
  const text = (name: string): string | undefined => {
    const value = body[name]
    return typeof value === 'string' ? value.trim() : undefined
  }
  const change: Record<string, unknown> = {}
  for (const name of ['name', 'image']) {
    const value = text(name)
    if (value !== undefined) change[name] = value === '' ? null : value
  }
  for (const [name, { type }] of Object.entries(store.editableFields)) {
    const value = text(`field.${name}`)
    // A box that is not ticked is not sent; this form has all boxes.
    if (type === 'boolean') change[name] = value === 'yes'
    else if (value !== undefined) change[name] = value === '' ? null : type === 'number' ? Number(value) : value
  }
  const [issue] = checkChange(store, change)
  if (issue) return ctx.render('accountProfile', { error: 'ProfileInput', field: issue.path[0] })
  try {
    await changeProfile(ctx, user.id, change)
  } catch (error) {
    if (!(error instanceof HttpError) || error.status >= 500) throw error
    return ctx.render('accountProfile', { error: 'ProfileInput' })
  }
  return redirectTo(`${ctx.base}/account?done=#profile`)
}

interface TextField {
  name: string
  label: string
  value: unknown
  wrong: string | undefined
  type?: string
  maxlength?: number
  autocomplete?: string
  step?: string
  /** Name of the input, where it is not the one of the field. */
  input?: string
}

/** An input; where its value was rejected, with the reason beside it. */
function drawText(
  { html, say, field, typed }: PageTools,
  { name, value, wrong, input = name, type = 'text', ...rest }: TextField,
): Content {
  const shown = typed(input, form) ?? (value === null || value === undefined ? '' : String(value))
  const isWrong = wrong === name
  const reason = `reason-${name}`
  const drawn = field(input, { ...rest, type, value: shown, ...(isWrong && { 'aria-invalid': 'true', 'aria-describedby': reason }) })
  if (!isWrong) return drawn
  return html`${drawn}
    <p class="note" id="${reason}">${say(name === 'image' ? 'accounts.profile.wrong-image' : 'accounts.profile.wrong')}</p>`
}

function drawOwn(tools: PageTools, name: string, { type }: AdditionalField, user: AdapterUser, wrong: string | undefined): Content {
  const { html, say, typed } = tools
  const input = `field.${name}`
  const key = `accounts.field.${name}`
  const isNamed = say(key) !== ''
  // `User` has no index, since own fields are typed by the host; they are columns all the same.
  const value = (user as unknown as Record<string, unknown>)[name]
  if (type === 'boolean') {
    const isTicked = typed('action', form) === undefined ? value === true : typed(input, form) === 'yes'
    return html`<label class="check"
      ><input type="checkbox" name="${input}" value="yes" ${isTicked ? html`checked` : html``} />
      <span>${isNamed ? say(key) : name}</span></label
    >`
  }
  const more = type === 'number' ? { type: 'number', step: 'any' } : { maxlength: type === 'string' ? 255 : 10_000 }
  return drawText(tools, { name, input, label: isNamed ? key : name, value, wrong, autocomplete: 'off', ...more })
}

async function findUser(ctx: Context): Promise<AdapterUser | null> {
  const userId = await findUserId(ctx)
  return userId === undefined ? null : ctx.service('store').getUser(userId)
}
