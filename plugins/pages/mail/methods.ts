/** `auth.mailTemplates`: the mails of an app for writers and previews. */
import { jobFor, type Kernel, type OfTenant, type WrittenMail } from 'authkernel/kernel'
import type { MailBounces } from './bounces.ts'

/** What `mailPlugin` puts on `auth`. */
export interface MailApi {
  /** The mails of all plugins. For pages of developers and writers; nothing is sent. */
  mailTemplates: {
    /** Names of the declared mails, in alphabetical order. */
    list(of?: OfTenant): Promise<string[]>
    /** The mail with invented values. `lang`: BCP 47 tag, default English. Throws AuthError for an unknown name. */
    preview(name: string, options?: OfTenant & { lang?: string | undefined }): Promise<WrittenMail>
  }
  /** Addresses that get no mail any more, with the option `bounces`. */
  mailBounces: MailBounces
}

export { createBounces } from './bounces.ts'

/** The methods of `auth.mailTemplates`. */
export function createApi(kernel: Kernel): MailApi['mailTemplates'] {
  return {
    async list(of) {
      const { app } = await kernel.contextOf(jobFor('mail-templates', of))
      return [...app.mailTemplates.keys()].toSorted()
    },
    async preview(name, { lang = 'en', ...of } = {}) {
      const ctx = await kernel.contextOf(jobFor('mail-templates', of))
      return ctx.service('mail').preview(ctx, name, { lang })
    },
  }
}
