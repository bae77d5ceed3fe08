/** A document as the driver sees it. */
export interface MongoDoc {
  _id: string
  [field: string]: unknown
}
