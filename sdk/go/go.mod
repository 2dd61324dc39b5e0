// The module of Tradewind's SDK for Go. It has no dependency.
module tradewind.example/sdk

go 1.24
