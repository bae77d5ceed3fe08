/** A document as the driver types it. */
export interface MongoDoc {
  _id: string
  [field: string]: unknown
}
