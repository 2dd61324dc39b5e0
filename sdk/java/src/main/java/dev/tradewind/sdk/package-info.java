/** Verifies and reads the webhooks of Tradewind, with nothing but Java's own library. */
package dev.tradewind.sdk;
