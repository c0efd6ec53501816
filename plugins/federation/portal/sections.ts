/** The extension point: sections of the portal, which other plugins add by the hook `portalSections`. */
import type { AnyContext, Awaitable, Content, Context, Markup, PageTools, PageView, Pipe } from 'authkernel/kernel'

/** Who visits the portal: the browser that has opened a link. Every call of a section has it, checked in this request. */
export interface PortalVisit {
  /** The request. `ctx.facts.actor` is `{ type: 'portal', id: linkId }`: audit records name it. */
  readonly ctx: Context
  /** Id of the link. */
  readonly linkId: string
  /** The organization that the link is for. A section must touch no other. */
  readonly organization: { readonly id: string; readonly name: string }
  /** Address of the user whom the link was made for. */
  readonly email: string
  /** What the link permits. */
  readonly scopes: readonly string[]
  /** When the link ends. */
  readonly expires: Date
}
/** A visit that draws a page. */
export interface PortalPage extends PortalVisit {
  readonly tools: PageTools
  /** The query. */
  readonly params: Readonly<Record<string, string | undefined>>
  /** A form of this section: it posts to `act` of the section, with the CSRF token and `action`. `more` travels along. */
  form(action: string, body: Content, more?: Readonly<Record<string, string>>): Promise<Markup>
  /** A path of the portal; default: this section. */
  to(query?: Readonly<Record<string, string>>, section?: string): string
  /** What was typed into a field before a rejection, else `fallback`. */
  typed(name: string, fallback?: string): string
}
/** What a section shows. */
export interface PortalView extends Pick<PageView, 'scripts' | 'sources' | 'forms' | 'status'> {
  /** Default: the label of the section. */
  title?: Content
  /** One sentence below it. */
  lead?: Content
  body: Content
}
/**
 * Where a form of a section leads: to a section with a query (default: the same section, with a message that it was done), or another response. `card` is the id
 * of the card that the browser then shows.
 */
export type PortalOutcome = Response | { section?: string; query?: Readonly<Record<string, string>>; card?: string } | undefined | void
/** A section of the portal: an entry of the navigation with a page at `/portal/<id>`. */
export interface PortalSection {
  /** Part of the address: lower-case letters, digits and dashes; not `open`, `links` or `upload`. */
  readonly id: string
  /** Lower comes first. The built-in ones: `overview` 0, `domains` 100, `connections` 200, `policy` 300, `log` 500. */
  readonly order: number
  /** Key of the text that names it. */
  readonly label: string
  /** The scope that a link needs to show it. Owners choose scopes; `portal.scope.<scope>` is the text of one, which the plugin of the section brings. */
  readonly scope: string
  /** A step of the overview: whether it is done, and the key of a sentence about it. Default: no step. */
  step?(visit: PortalVisit): Awaitable<{ done: boolean; text: string } | undefined>
  /** Draws the page. */
  draw(page: PortalPage): Awaitable<PortalView | Response>
  /**
   * Does what a form of the section sent, after the CSRF check. `fields` has the last value of each name. Throw an AuthError of a status below 500 to reject:
   * the page is drawn again with its text. To show something once, keep it in a WeakMap by `visit.ctx` and return `visit.ctx.render('portal', { section })`.
   */
  act?(visit: PortalVisit, action: string, fields: Readonly<Record<string, string>>): Awaitable<PortalOutcome>
}

declare module 'authkernel/kernel' {
  interface Hooks {
    /** Adds sections to the portal: `({ sections }) => [...sections, mine]`; give the option `of`, for apps without this plugin. Asked for each page; it must not wait long. */
    portalSections: Pipe<{ sections: readonly PortalSection[] }, 'sections', AnyContext>
  }
}

/** All sections in their order. */
export async function listSections(ctx: AnyContext, own: readonly PortalSection[]): Promise<readonly PortalSection[]> {
  const sections = (await ctx.ask('portalSections', { sections: own })) ?? own
  return sections.toSorted((a, b) => a.order - b.order)
}

/** Scopes of all sections, in their order. */
export async function listScopes(ctx: AnyContext, own: readonly PortalSection[]): Promise<string[]> {
  return [...new Set((await listSections(ctx, own)).map(({ scope }) => scope))].filter((scope) => scope !== '')
}
