/** A page of a plugin, in the frame of the built-in ones. */
import type { PageTools, PageView, PluginPage } from 'authkernel/kernel'
import { draw, type Sheet, siteTile } from './layout.ts'
import { ownTargets, providerTargets, provers } from './policy.ts'
import { note } from './needs.ts'
import { drawSlots } from './slots.ts'

/** Draws the page. `targets` are what the host listed for `form-action`. */
export async function pluginPage(
  sheet: Sheet,
  page: PluginPage,
  params: Readonly<Record<string, string | undefined>>,
  targets: readonly string[] | undefined,
  tools: PageTools,
): Promise<Response> {
  const view = await page.draw(sheet.ctx, tools, params)
  if (isResponse(view)) return view
  const { title, heading = title, lead, body, status, forms = [] } = view
  note(sheet.needs, view, `The page "${page.name}" of plugin "${page.plugin}"`)
  const more = await drawSlots(sheet, tools, 'account')
  const drawn = sheet.needs.form || forms.length > 0
  const away = drawn ? [...sheet.needs.away, ...(await provers(sheet.ctx))] : []
  return draw(sheet, {
    kind: `plugin page-${page.name.replace(/[^\w-]/g, '')}`,
    title,
    heading,
    lead,
    tile: siteTile(sheet.site),
    body: [body, more],
    ...(status !== undefined && { status }),
    ...(drawn && {
      forms: [...(await ownTargets(sheet.ctx, [...(targets ?? []), ...forms])), ...(away.length > 0 ? providerTargets(away, targets) : [])],
    }),
    foot: true,
  })
}

// A Response of another realm is one too.
function isResponse(view: PageView | Response): view is Response {
  return typeof (view as Response).arrayBuffer === 'function'
}
