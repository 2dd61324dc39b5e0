// Package api calls Tradewind's API.
//
// [Client] has a method for every operation, named after its operationId. Lists have a second method
// that ends in Seq and iterates over the items of all pages. Types and operations are generated from the
// OpenAPI document.
package api
