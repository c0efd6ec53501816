/** The error of a request that another site has made. */
import { MissingCSRF } from './index.ts'

/** A POST from another site, whatever token it carries: 403, never a redirect. */
export class CrossSiteRequest extends MissingCSRF {
  static override type = 'MissingCSRF'
}
